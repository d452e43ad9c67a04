import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../test/support/eventually.ts';
import { handDeadlines } from '../../../test/support/hand-deadlines.ts';
import { dial } from '../../../test/support/raw-http.ts';
import { defaultLimits } from '../../config/defaults.ts';
import { collectBytes } from '../../core/pieces.ts';
import { Deadlines } from '../../routing/deadlines.ts';
import { formParts } from './form.ts';
import { type Turn, Turns } from './turns.ts';

const limits = { ...defaultLimits, fieldBytes: 1_000, uploadRequestBytes: 2_000_000, clientBodyIdleMs: 1_500 };
const LARGE = 'a'.repeat(500_000);

const part = (name: string, content: string): string =>
  `--x\r\ncontent-disposition: form-data; name="${name}"; filename="${name}"\r\n\r\n${content}\r\n`;

/** Reads a form without a length, with a rest before each part, and tells how large its parts were. */
async function read(
  pieces: Iterable<string> | AsyncIterable<string>,
  restMs = 0,
  deadlines = new Deadlines(),
  turns = new Turns(),
): Promise<number[]> {
  const body = Readable.from(pieces, { objectMode: false }).on('error', () => {});
  const request = Object.assign(body, { headers: { 'content-type': 'multipart/form-data; boundary=x' } });
  Object.defineProperty(request, 'complete', { get: () => body.readableEnded });
  const sizes: number[] = [];
  for await (const each of formParts(request as unknown as IncomingMessage, limits, { deadlines, turns })) {
    if (restMs > 0) await sleep(restMs);
    sizes.push((await collectBytes(each.body)).length);
  }
  return sizes;
}

describe('forms', () => {
  test('a client that waits for us is not idle, be it held back or done', async () => {
    assert.deepEqual(await read([part('a', LARGE), part('b', LARGE), '--x--\r\n'], 2_000), [500_000, 500_000]);
    assert.deepEqual(await read([part('a', 'Hi'), part('b', 'Hi'), '--x--\r\n'], 2_000), [2, 2]);
  });

  test('nor is one that sends a little now and then', async () => {
    async function* slowly(): AsyncIterable<string> {
      for (const letter of part('a', 'Hi')) {
        yield letter;
        await sleep(30);
      }
      yield '--x--\r\n';
    }
    assert.deepEqual(await read(slowly()), [2]);
  });

  test('a large one is read no further before its turn, though there be room again', async (context) => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const turns = new Turns();
    const asked = context.mock.method(turns, 'take', async (size: number) => {
      await gate;
      return Turns.prototype.take.call(turns, size);
    });
    let sent = 0;
    function* pieces(): Iterable<string> {
      for (; sent < 10; sent += 1) yield part(`${sent}`, 'a'.repeat(190_000));
      yield '--x--\r\n';
    }
    const reading = read(pieces(), 0, new Deadlines(), turns);
    await eventually('more than a small one has come', () => asked.mock.callCount() === 1);
    for (let step = 0; step < 200; step += 1) await new Promise((done) => setImmediate(done));
    // One that is read ahead, and one more.
    assert.ok(sent <= 8, `${sent} parts`);
    open();
    assert.deepEqual(await reading, new Array(10).fill(190_000));
    assert.equal(asked.mock.callCount(), 1, 'a second turn would be nobody’s to end');
  });

  test('one that stops once it has its turn is not waited for, though its time had passed before', async (context) => {
    const hand = handDeadlines();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const turns = new Turns();
    const asked = context.mock.method(turns, 'take', async (size: number) => {
      await gate;
      return Turns.prototype.take.call(turns, size);
    });
    async function* stopping(): AsyncIterable<string> {
      for (let sent = 0; sent < 10; sent += 1) yield part(`${sent}`, 'a'.repeat(190_000));
      await new Promise(() => {});
    }
    const reading = read(stopping(), 0, hand.deadlines, turns);
    let isOver = false;
    const over = assert.rejects(reading, { code: 'request_timeout' }).finally(() => {
      isOver = true;
    });
    await eventually('a turn is asked for', () => asked.mock.callCount() === 1);
    hand.expire();
    assert.deepEqual(hand.open, [limits.clientBodyIdleMs], 'it waits for us, and its time begins anew');
    open();
    await eventually('it is over', () => {
      hand.expire();
      return isOver;
    });
    await over;
    assert.deepEqual(hand.open, []);
  });

  test('large ones give their turn back, whether they are read or not, and also where it comes too late', async () => {
    /** One of which the first part is there and unread, and that waits for its turn. */
    const waiting = async () => {
      const hand = handDeadlines();
      const { promise: itsTurn, resolve: go } = Promise.withResolvers<void>();
      const turn = { isAsked: false, isGiven: false, isOver: false };
      const take = async (): Promise<Turn> => {
        turn.isAsked = true;
        await itsTurn;
        turn.isGiven = true;
        const end = (): void => {
          turn.isOver = true;
        };
        return { moved() {}, end } as unknown as Turn;
      };
      const pieces = [part('a', LARGE), part('b', LARGE), part('c', LARGE), '--x--\r\n'];
      const body = Readable.from(pieces, { objectMode: false }).on('error', () => {});
      const headers = {
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': String(pieces.join('').length),
      };
      const request = Object.assign(body, { headers }) as unknown as IncomingMessage;
      const parts = formParts(request, limits, { deadlines: hand.deadlines, turns: { take } as unknown as Turns });
      const { value: first } = await parts.next();
      assert.ok(first);
      await eventually('a turn is asked for', () => turn.isAsked);
      return { hand, request, parts, first, turn, go };
    };
    const isBack = ({ turn }: Awaited<ReturnType<typeof waiting>>) =>
      eventually('it is given back', () => turn.isGiven && turn.isOver);

    const read = await waiting();
    const { touches } = read.hand;
    read.go();
    await eventually('it is its turn', () => read.turn.isGiven);
    assert.ok(read.hand.touches > touches, 'its time begins anew');
    await collectBytes(read.first.body);
    for await (const { body } of read.parts) await collectBytes(body);
    await isBack(read);

    const left = await waiting();
    left.go();
    await eventually('it is its turn', () => left.turn.isGiven);
    left.request.destroy();
    // Though nobody has asked for more of it.
    await isBack(left);

    const leftBefore = await waiting();
    leftBefore.request.destroy();
    await eventually('it has left', () => leftBefore.request.closed);
    leftBefore.go();
    await isBack(leftBefore);

    const unwanted = await waiting();
    await unwanted.parts.return();
    unwanted.go();
    await isBack(unwanted);
  });

  test('that break off are over at once, and leave no deadline behind', async (context) => {
    const deadlines = new Deadlines();
    const begun = context.mock.method(deadlines, 'start');
    const ended = context.mock.method(deadlines, 'remove');
    async function* broken(): AsyncIterable<string> {
      yield part('a', 'Hi').slice(0, -3);
      throw new Error('reset');
    }
    const left = read(broken(), 0, deadlines);
    await assert.rejects(left, { code: 'invalid_request', message: /ended before the form was complete/ });
    await read([part('a', 'Hi'), '--x--\r\n'], 0, deadlines);
    assert.deepEqual([begun.mock.callCount(), ended.mock.callCount()], [2, 2]);
  });

  test('end when their client leaves, also with all of it here and not yet read', {
    timeout: 60_000,
  }, async (context) => {
    // More than one part takes in unread, and less than there is room for behind it.
    const body = `${part('a', 'a'.repeat(150_000))}--x--\r\n`;
    const server = createServer().listen(0, '127.0.0.1');
    context.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = await dial(`http://127.0.0.1:${port}`);
    const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: ${body.length}`;
    const asked = once(server, 'request');
    socket.write(`${head}\r\n\r\n${body}`);
    const [request] = (await asked) as [IncomingMessage];
    const parts = formParts(request, limits, { deadlines: new Deadlines() });
    const { value: first } = await parts.next();
    assert.ok(first);
    await eventually('all of it has arrived', () => request.complete);
    assert.equal(request.readableEnded, false, 'it is not yet read');
    socket.destroy();
    await eventually('its client has left', () => request.closed);
    await assert.rejects(collectBytes(first.body), {
      code: 'invalid_request',
      message: /ended before the form was complete/,
    });
    await assert.rejects(parts.next(), { code: 'invalid_request' });
    await assert.rejects(
      formParts(request, limits, { deadlines: new Deadlines() }).next(),
      { code: 'invalid_request' },
      'nor is it begun',
    );
  });

  test('are counted where they do not say how large they are', async () => {
    const many = Array.from({ length: 5 }, (_, index) => part(`${index}`, LARGE));
    await assert.rejects(read([...many, '--x--\r\n']), { code: 'too_large', message: /^The request is larger/ });
  });
});
