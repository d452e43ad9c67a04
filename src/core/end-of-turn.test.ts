import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { atEndOfTurn } from './end-of-turn.ts';

describe('the end of a turn', () => {
  it('sends in order what waits, behind all that the turn does', async () => {
    const seen: string[] = [];
    atEndOfTurn(() => seen.push('first'));
    atEndOfTurn(() => seen.push('second'));
    seen.push('read');
    await Promise.resolve();
    process.nextTick(() => seen.push('tick'));
    await immediate();
    assert.deepEqual(seen, ['read', 'tick', 'first', 'second']);
  });

  it('is not waited for by more than a few', async () => {
    let sent = 0;
    for (let count = 0; count < 63; count += 1) atEndOfTurn(() => (sent += 1));
    assert.equal(sent, 0);
    atEndOfTurn(() => (sent += 1));
    assert.equal(sent, 64);
    atEndOfTurn(() => (sent += 1));
    assert.equal(sent, 64);
    await immediate();
    assert.equal(sent, 65);
  });

  it('belongs to the next turn for what is said while it sends', async () => {
    const seen: string[] = [];
    atEndOfTurn(() => {
      seen.push('first');
      atEndOfTurn(() => seen.push('next'));
      seen.push('still first');
    });
    await immediate();
    await immediate();
    assert.deepEqual(seen, ['first', 'still first', 'next']);
  });
});
