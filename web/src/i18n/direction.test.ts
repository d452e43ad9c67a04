import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directionOf } from './direction.ts';

test('the first letter says in which direction a text is written', () => {
  assert.equal(directionOf('1. Hello, שלום'), 'ltr');
  assert.equal(directionOf('1. שלום, hello'), 'rtl');
  assert.equal(directionOf('«مرحبا»'), 'rtl');
  assert.equal(directionOf('𞤀𞤣𞤤𞤢𞤥'), 'rtl');
  assert.equal(directionOf('你好'), 'ltr');
  assert.equal(directionOf('12 + 3'), undefined);
  assert.equal(directionOf(''), undefined);
});
