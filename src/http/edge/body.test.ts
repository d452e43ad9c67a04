import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { handDeadlines } from '../../../test/support/hand-deadlines.ts';
import { bodyValue, parseJson, readBytes, readJson } from './body.ts';
import type { Turn, Turns } from './turns.ts';

const MB = 1024 * 1024;
const IDLE_MS = 700;
const BODY = Buffer.from(`{"text":"${'a'.repeat(2 * MB - 11)}"}`);

/** Somebody sends `BODY`, of which a little more than half has come. */
async function sending(read: 'json' | 'bytes', isAnnounced: boolean) {
  const hand = handDeadlines();
  const asked: number[] = [];
  let given = 0;
  let ended = 0;
  let moved = 0;
  const { promise: itsTurn, resolve: go } = Promise.withResolvers<void>();
  const turns: Pick<Turns, 'take'> = {
    async take(size) {
      asked.push(size);
      await itsTurn;
      given += 1;
      const end = (): void => {
        ended += 1;
      };
      const count = (bytes: number): void => {
        moved += bytes;
      };
      return { moved: count, end } as unknown as Turn;
    },
  };
  const headers = isAnnounced ? { 'content-length': String(BODY.length) } : {};
  const request = Object.assign(new PassThrough({ highWaterMark: 4 * MB }), { headers });
  const reader = {
    limits: { clientBodyIdleMs: IDLE_MS, jsonDepth: 9 },
    deadlines: hand.deadlines,
    turns: turns as Turns,
  };
  const message = request as unknown as IncomingMessage;
  const reading =
    read === 'bytes'
      ? readBytes(message, 3 * MB, reader)
      : Promise.resolve(readJson(message, 3 * MB, reader)).then(({ bytes }) => bytes);
  // Whether it fails is asked for later.
  reading.catch(() => {});
  request.write(BODY.subarray(0, MB + 1));
  await eventually('a turn is asked for', () => asked.length > 0);
  return { hand, request, reading, asked, go, turns: () => ({ given, ended }), moved: () => moved };
}

for (const [read, isAnnounced] of [
  ['json', true],
  ['json', false],
  ['bytes', true],
  ['bytes', false],
] as const) {
  describe(`a large body, read as ${read}, ${isAnnounced ? 'of a known length' : 'in chunks'}`, () => {
    test('waits for its turn without its time running, is read as it was sent, and gives its turn back', async () => {
      const { hand, request, reading, asked, go, turns, moved } = await sending(read, isAnnounced);
      // Without a length it may be as large as the limit.
      assert.deepEqual(asked, [isAnnounced ? BODY.length : 3 * MB]);
      assert.ok(request.isPaused(), 'the client is held back');
      assert.deepEqual(hand.open, [Number.POSITIVE_INFINITY]);
      go();
      await eventually('its time runs again', () => hand.open[0] === IDLE_MS);
      request.end(BODY.subarray(MB + 1));
      assert.ok(BODY.equals(await reading));
      assert.deepEqual(hand.open, []);
      assert.ok(hand.touches >= 2, 'a client that goes on sending is not idle');
      assert.equal(moved(), BODY.length - MB - 1, 'and does not stand still in its turn');
      await eventually('its turn is over', () => turns().ended === 1);
    });

    test('that stops in the middle gives its turn back at once', async () => {
      const { hand, request, reading, go, turns } = await sending(read, isAnnounced);
      go();
      await eventually('its time runs again', () => hand.open[0] === IDLE_MS);
      hand.expire();
      assert.deepEqual(turns(), { given: 1, ended: 1 });
      await assert.rejects(reading, { code: 'request_timeout' });
      assert.ok(request.isPaused(), 'what still comes is not taken in');
    });

    test('whose client leaves gives its turn back, also where that comes only later', async () => {
      for (const isLate of [false, true]) {
        const { hand, request, reading, go, turns } = await sending(read, isAnnounced);
        if (!isLate) {
          go();
          await eventually('its time runs again', () => hand.open[0] === IDLE_MS);
        }
        request.destroy();
        await assert.rejects(reading, { code: 'invalid_request' });
        go();
        await eventually('its turn is over', () => turns().given === 1 && turns().ended === 1);
        assert.deepEqual(hand.open, []);
      }
    });
  });
}

test('a large body that is no JSON gives its turn back', async () => {
  const { request, reading, go, turns } = await sending('json', true);
  go();
  request.end('a'.repeat(BODY.length - MB - 1));
  await assert.rejects(reading, { code: 'invalid_request' });
  await eventually('its turn is over', () => turns().ended === 1);
});

test('of a body whose value alone is wanted, the bytes are given back', () => {
  const text = 'a'.repeat(64 * 1024);
  const bytes = Buffer.from(JSON.stringify({ text }));
  const value = bodyValue({ body: parseJson(bytes, { jsonDepth: 9 }) });
  assert.deepEqual(value, { text });
  assert.equal(bytes.length, 0);
});
