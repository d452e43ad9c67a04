import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSettings, takeSettings } from './settings.ts';

test('settings of earlier versions keep what a person chose', () => {
  assert.deepEqual(takeSettings({ enterSends: false }), { ...defaultSettings, enter: 'line' });
  // That was so for everybody.
  assert.deepEqual(takeSettings({ enterSends: true }), defaultSettings);
  assert.equal(takeSettings({ enterSends: false, enter: 'auto' }).enter, 'line');
  assert.equal(takeSettings({ enterSends: false, enter: 'send' }).enter, 'send');
  assert.deepEqual(takeSettings({ theme: 'dark' }), { ...defaultSettings, theme: 'dark' });
});
