import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Word } from './tabs.ts';

/** Those who hear what other tabs say. */
const listeners = new Set<(event: { readonly data: Word }) => void>();

class Channel {
  addEventListener(_: string, listener: (event: { readonly data: Word }) => void): void {
    listeners.add(listener);
  }
}

// Before it is loaded what looks for them. There is no database here, as in some private windows.
Object.assign(globalThis, { BroadcastChannel: Channel });
const { createLibrary } = await import('./library.ts');

test('a library that cannot be read listens to other tabs once, however often it is asked for', async () => {
  const library = createLibrary('things', () => 0);
  for (let count = 0; count < 3; count += 1) await assert.rejects(library.load());
  assert.equal(listeners.size, 1);
  // What they say is no reason for a failure that nobody catches, which would end this test.
  for (const listener of listeners) listener({ data: { kind: 'records', of: 'things' } });
  await setImmediate();
});
