import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isOfInputMethod, isPressed, keyNames } from './keys.ts';

const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

describe('keys of commands', () => {
  test('Mod is Cmd on Apple’s keyboards and Ctrl on others', () => {
    const control = { ...none, key: 'k', ctrlKey: true };
    const command = { ...none, key: 'k', metaKey: true };
    assert.deepEqual([isPressed('Mod+K', control, false), isPressed('Mod+K', command, false)], [true, false]);
    assert.deepEqual([isPressed('Mod+K', control, true), isPressed('Mod+K', command, true)], [false, true]);
  });

  test('further keys make another combination', () => {
    assert.equal(isPressed('Mod+K', { ...none, key: 'K', ctrlKey: true, shiftKey: true }, false), false);
    assert.equal(isPressed('Mod+Shift+K', { ...none, key: 'K', ctrlKey: true, shiftKey: true }, false), true);
    assert.equal(isPressed('Escape', { ...none, key: 'Escape', altKey: true }, false), false);
  });

  test('signs are signs, with Shift or without', () => {
    assert.equal(isPressed('Mod+/', { ...none, key: '/', ctrlKey: true, shiftKey: true }, false), true);
  });

  test('some belong to an input method, also in Safari, which says too early that it is done', () => {
    assert.equal(isOfInputMethod({ isComposing: true, keyCode: 229 }), true);
    assert.equal(isOfInputMethod({ isComposing: false, keyCode: 229 }), true);
    assert.equal(isOfInputMethod({ isComposing: false, keyCode: 13 }), false);
  });

  test('are written as on the keyboard', () => {
    assert.deepEqual(keyNames('Mod+Shift+o', true), ['⌘', '⇧', 'O']);
    assert.deepEqual(keyNames('Mod+Shift+o', false), ['Ctrl', 'Shift', 'O']);
    assert.deepEqual(keyNames('Escape', false), ['Esc']);
  });
});
