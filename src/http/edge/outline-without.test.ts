import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outlineOf } from './outline.ts';

test('without WebAssembly everything is parsed as a whole', (context) => {
  const { WebAssembly } = globalThis;
  context.after(() => Object.assign(globalThis, { WebAssembly }));
  Object.assign(globalThis, { WebAssembly: undefined });
  const chat = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(100_000) }] }));
  assert.equal(outlineOf([chat]), undefined);
  assert.equal(outlineOf([chat]), undefined);
});
