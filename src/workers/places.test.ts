import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { SluiceError } from '../core/errors.ts';
import { Channel, type Message } from './channel.ts';
import { LeasedPlaces } from './leased-places.ts';
import { Lender } from './lender.ts';

/** A lender and workers that talk to it as processes would, by messages that arrive later. */
function open(streams: number, streamsPerClient: number, count: number) {
  const limits = { streams, streamsPerClient };
  const lender = new Lender(() => limits);
  let messages = 0;
  const workers = Array.from({ length: count }, () => {
    const ends: Channel[] = [];
    const unread: Message[] = [];
    let isStuck = false;
    const [primary, worker] = [0, 1].map((index) => {
      const end: Channel = new Channel((sent) => {
        messages += sent.length;
        if (isStuck) unread.push(...structuredClone(sent));
        else setImmediate(() => ends[1 - index]?.receive(structuredClone(sent)));
      });
      ends.push(end);
      return end;
    });
    assert.ok(primary !== undefined && worker !== undefined);
    lender.serve(primary);
    return {
      primary,
      places: new LeasedPlaces(worker, () => limits),
      /** Reads nothing more, until it wakes. */
      hang: () => {
        isStuck = true;
      },
      wake: () => {
        isStuck = false;
        worker.receive(unread.splice(0));
      },
      /** Its primary is gone. */
      isAlone: () => worker.close(),
    };
  });
  return { lender, limits, workers, messages: () => messages };
}

/** Whether there was a place: `true`, or the code of the refusal. */
async function take(places: LeasedPlaces, client?: string): Promise<string | true> {
  try {
    await places.take(client);
    return true;
  } catch (error) {
    assert.ok(error instanceof SluiceError);
    return error.code;
  }
}

const countOf = (found: readonly (string | true)[], wanted: string | true): number =>
  found.filter((each) => each === wanted).length;

describe('places of several workers', () => {
  test('are exactly as many as allowed, whoever asks', async () => {
    for (const streams of [1, 10, 1_000]) {
      const { workers } = open(streams, 1_000_000, 3);
      const all = await Promise.all(
        Array.from({ length: 2 * streams + 7 }, (_, at) => take(workers[at % 3]?.places ?? assert.fail())),
      );
      assert.deepEqual([countOf(all, true), countOf(all, 'overloaded')], [streams, streams + 7]);
    }
  });

  test('are as many for those who ask one after the other, and find some lent ahead', async () => {
    const { workers } = open(100, 40, 2);
    const placesAt = (at: number) => workers[at % 2]?.places ?? assert.fail();
    /** So many are asked for, through one worker and the other in turns. */
    const takeAll = async (count: number, client?: string) => {
      const found: (string | true)[] = [];
      for (let at = 0; at < count; at += 1) found.push(await take(placesAt(at), client));
      return found;
    };
    const one = await takeAll(50, '192.0.2.1');
    assert.deepEqual([countOf(one, true), countOf(one, 'rate_limited')], [40, 10]);
    const rest = await takeAll(70);
    assert.deepEqual([countOf(rest, true), countOf(rest, 'overloaded')], [60, 10]);
    for (let at = 0; at < 20; at += 1) placesAt(at).give('192.0.2.1');
    const again = await takeAll(30, '192.0.2.1');
    assert.deepEqual([countOf(again, true), countOf(again, 'rate_limited')], [20, 10]);
  });

  test('of a client are not used up by its refusals where nobody gets any', async () => {
    const { workers } = open(4, 2, 1);
    const places = workers[0]?.places ?? assert.fail();
    const found: (string | true)[] = [];
    for (let at = 0; at < 4; at += 1) found.push(await take(places));
    for (let at = 0; at < 3; at += 1) found.push(await take(places, '192.0.2.1'));
    for (let at = 0; at < 3; at += 1) places.give(undefined);
    for (let at = 0; at < 3; at += 1) found.push(await take(places, '192.0.2.1'));
    assert.deepEqual(found, [
      ...Array.from({ length: 4 }, () => true),
      ...Array.from({ length: 3 }, () => 'overloaded'),
      ...[true, true, 'rate_limited'],
    ]);
  });

  test('of one client too, and its refusal keeps nothing from others', async () => {
    const { workers } = open(20, 5, 3);
    const ask = (client: string) =>
      Promise.all(Array.from({ length: 12 }, (_, at) => take(workers[at % 3]?.places ?? assert.fail(), client)));
    const [one, other] = await Promise.all([ask('192.0.2.1'), ask('192.0.2.2')]);
    for (const found of [one, other]) {
      assert.deepEqual([countOf(found, true), countOf(found, 'rate_limited') + countOf(found, 'overloaded')], [5, 7]);
    }
    const rest = await Promise.all(Array.from({ length: 15 }, () => take(workers[0]?.places ?? assert.fail())));
    assert.deepEqual([countOf(rest, true), countOf(rest, 'overloaded')], [10, 5]);
  });

  test('are not kept from others by a client who asks for more than its share, while it waits for the answer', async () => {
    const { workers } = open(6, 2, 2);
    const [first, second] = workers;
    assert.ok(first !== undefined && second !== undefined);
    for (const { places } of workers) assert.equal(await take(places, '192.0.2.1'), true);
    const greedy = Array.from({ length: 12 }, (_, at) => take(workers[at % 2]?.places ?? assert.fail(), '192.0.2.1'));
    const others = [first, second, first, second].map(({ places }) => take(places));
    assert.deepEqual(await Promise.all(others), [true, true, true, true]);
    assert.equal(countOf(await Promise.all(greedy), 'rate_limited'), 12);
  });

  test('usually cost no message', async () => {
    const { lender, workers, messages } = open(5_000, 200, 2);
    const places = workers[0]?.places ?? assert.fail();
    const asUsual = async (): Promise<void> => {
      await take(places, '192.0.2.1');
      const before = messages();
      for (let at = 0; at < 10; at += 1) {
        assert.equal(places.take('192.0.2.1'), undefined, 'at once');
        places.give('192.0.2.1');
      }
      await turn();
      assert.equal(messages(), before);
    };
    await asUsual();
    // Of what had to be given back, nothing is owed any more.
    await lender.recall();
    places.give('192.0.2.1');
    await asUsual();
  });

  test('of a worker that has ended are free, and a lower limit counts at once', async () => {
    const { lender, limits, workers } = open(10, 10, 2);
    const [first, second] = workers;
    assert.ok(first !== undefined && second !== undefined);
    for (let at = 0; at < 6; at += 1) assert.equal(await take(first.places), true);
    for (let at = 0; at < 4; at += 1) assert.equal(await take(second.places), true);
    assert.equal(await take(second.places), 'overloaded');
    first.primary.close();
    lender.forget(first.primary);
    assert.equal(await take(second.places), true);
    limits.streams = 3;
    await lender.recall();
    for (let at = 0; at < 2; at += 1) second.places.give(undefined);
    assert.equal(await take(second.places), 'overloaded', 'three run');
    second.places.give(undefined);
    assert.equal(await take(second.places), true);
    assert.equal(await take(second.places), 'overloaded', 'three run');
  });

  test('are lent to no worker that ends while others are asked to give some back', async () => {
    const { lender, workers } = open(10, 10, 2);
    const [first, second] = workers;
    assert.ok(first !== undefined && second !== undefined);
    for (let at = 0; at < 8; at += 1) assert.equal(await take(first.places), true);
    for (let at = 0; at < 2; at += 1) assert.equal(await take(second.places), true);
    second.hang();
    void take(first.places);
    await turn();
    await turn();
    first.primary.close();
    lender.forget(first.primary);
    second.wake();
    await turn();
    for (let at = 0; at < 8; at += 1) assert.equal(await take(second.places), true);
    assert.equal(await take(second.places), 'overloaded');
  });

  test('go back as a lower limit wants it, also of a worker that hung when that was said', async () => {
    const { lender, limits, workers } = open(10, 10, 2);
    const [stuck, other] = workers;
    assert.ok(stuck !== undefined && other !== undefined);
    for (let at = 0; at < 4; at += 1) assert.equal(await take(stuck.places), true);
    for (let at = 0; at < 6; at += 1) assert.equal(await take(other.places), true);
    stuck.hang();
    assert.equal(await take(other.places), 'overloaded');
    limits.streams = 3;
    await lender.recall();
    stuck.wake();
    await turn();
    for (let at = 0; at < 2; at += 1) stuck.places.give(undefined);
    for (let at = 0; at < 6; at += 1) other.places.give(undefined);
    await turn();
    const found = [await take(stuck.places), await take(stuck.places), await take(other.places)];
    assert.deepEqual(found, [true, 'overloaded', 'overloaded'], 'two ran');
  });

  test('are refused for what is the matter where the primary is gone', async () => {
    const { workers } = open(10, 10, 2);
    const [first] = workers;
    assert.ok(first !== undefined);
    first.isAlone();
    assert.equal(await take(first.places, '192.0.2.1'), 'shutting_down');
  });

  test('are given to others while a worker hangs, but for those that it holds', { timeout: 30_000 }, async () => {
    const { lender, workers } = open(10, 10, 2);
    const [stuck, other] = workers;
    assert.ok(stuck !== undefined && other !== undefined);
    for (let at = 0; at < 4; at += 1) assert.equal(await take(stuck.places), true);
    for (let at = 0; at < 2; at += 1) stuck.places.give(undefined);
    stuck.hang();
    await lender.recall();
    const found: (string | true)[] = [];
    for (let at = 0; at < 9; at += 1) found.push(await take(other.places));
    assert.ok(countOf(found, true) >= 5 && found.at(-1) === 'overloaded', found.join(' '));
    stuck.wake();
    await turn();
    await turn();
    for (let at = countOf(found, true); at < 8; at += 1) assert.equal(await take(other.places), true);
    assert.equal(await take(other.places), 'overloaded', 'two run in the other one');
    // From now on it is asked again.
    for (let at = 0; at < 2; at += 1) stuck.places.give(undefined);
    await turn();
    for (let at = 0; at < 2; at += 1) assert.equal(await take(stuck.places), true);
    for (let at = 0; at < 2; at += 1) stuck.places.give(undefined);
    for (let at = 0; at < 2; at += 1) assert.equal(await take(other.places), true);
  });

  test('are taken back from who has them unused also where some are left, but not enough', async () => {
    const { workers } = open(10, 10, 2);
    const [first, second] = workers;
    assert.ok(first !== undefined && second !== undefined);
    for (let at = 0; at < 8; at += 1) assert.equal(await take(first.places), true);
    for (let at = 0; at < 8; at += 1) first.places.give(undefined);
    const found = await Promise.all(Array.from({ length: 4 }, () => take(second.places)));
    assert.deepEqual(found, [true, true, true, true]);
  });

  test('of a client who has gone go back, and not while an answer of theirs runs', async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] });
    const { workers } = open(1_000, 4, 2);
    const [first, second] = workers;
    assert.ok(first !== undefined && second !== undefined);
    const clean = async (): Promise<void> => {
      context.mock.timers.tick(60_000);
      await turn();
      await turn();
    };
    const client = '192.0.2.1';
    for (let at = 0; at < 2; at += 1) assert.equal(await take(first.places, client), true);
    first.places.give(client);
    await clean();
    for (let at = 0; at < 3; at += 1) assert.equal(await take(second.places, client), true);
    assert.equal(await take(second.places, client), 'rate_limited', 'one runs in the other one');
    first.places.give(client);
    await clean();
    assert.equal(await take(second.places, client), true);
    assert.equal(await take(second.places, client), 'rate_limited');
    // None is lost over that, whoever had them.
    for (let at = 0; at < 4; at += 1) second.places.give(client);
    await clean();
    for (let at = 0; at < 4; at += 1) assert.equal(await take(first.places, client), true);
  });

  test('of all clients are called back from a worker at once; one that hangs is waited for once', {
    timeout: 120_000,
  }, async () => {
    const { lender, workers, messages } = open(1_000, 4, 2);
    const [stuck, other] = workers;
    assert.ok(stuck !== undefined && other !== undefined);
    const clients = Array.from({ length: 20 }, (_, at) => `192.0.2.${at}`);
    for (const client of clients) assert.equal(await take(stuck.places, client), true);
    stuck.hang();
    let before = messages();
    const over = lender.recall();
    await turn();
    await turn();
    assert.equal(messages() - before, clients.length + 1);
    await over;
    for (let at = 0; at < 3; at += 1) assert.equal(await take(other.places, clients[0]), true);
    before = messages();
    assert.equal(await take(other.places, clients[0]), 'rate_limited');
    assert.equal(messages() - before, 2, 'its question and the answer');
    stuck.wake();
    for (const client of clients) stuck.places.give(client);
    await turn();
    await turn();
    assert.equal(await take(other.places, clients[0]), true);
  });

  test('stay exact however questions, answers and recalls cross each other', async () => {
    const { lender, workers } = open(7, 100, 3);
    const running: LeasedPlaces[] = [];
    const pending = new Set<Promise<void>>();
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let step = 0; step < 3_000; step += 1) {
      const wish = random(8);
      if (wish < 4) {
        const places = workers[random(3)]?.places ?? assert.fail();
        const asked = take(places).then((found) => {
          if (found === true) running.push(places);
          assert.ok(running.length <= 7, `${running.length} at step ${step}`);
        });
        pending.add(asked);
        void asked.finally(() => pending.delete(asked));
      } else if (wish < 6) running.splice(random(running.length || 1), 1)[0]?.give(undefined);
      else if (wish === 6) void lender.recall();
      else await turn();
    }
    await Promise.all(pending);
    for (const places of running.splice(0)) places.give(undefined);
    await turn();
    const all = await Promise.all(Array.from({ length: 9 }, (_, at) => take(workers[at % 3]?.places ?? assert.fail())));
    assert.deepEqual([countOf(all, true), countOf(all, 'overloaded')], [7, 2]);
  });
});
