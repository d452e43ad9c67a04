import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyHint } from './key-hint.ts';

test('a key is put into the environment as the shell of the system has it', () => {
  assert.match(keyHint('linux'), /^export OPENAI_API_KEY=… \(or /);
  assert.match(keyHint('win32'), /^\$env:OPENAI_API_KEY = '…' \(or /);
});
