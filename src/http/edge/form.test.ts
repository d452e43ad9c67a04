import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultLimits } from '../../config/defaults.ts';
import { collectBytes } from '../../core/pieces.ts';
import { Deadlines } from '../../routing/deadlines.ts';
import { formParts } from './form.ts';

const limits = { ...defaultLimits, fieldBytes: 1_000, uploadRequestBytes: 2_000_000, clientBodyIdleMs: 1_500 };
const LARGE = 'a'.repeat(500_000);

const part = (name: string, content: string): string =>
  `--x\r\ncontent-disposition: form-data; name="${name}"; filename="${name}"\r\n\r\n${content}\r\n`;

/** Reads a form without a length, with a rest before each part, and tells how large its parts were. */
async function read(
  pieces: Iterable<string> | AsyncIterable<string>,
  restMs = 0,
  deadlines = new Deadlines(),
): Promise<number[]> {
  const body = Readable.from(pieces, { objectMode: false }).on('error', () => {});
  const request = Object.assign(body, { headers: { 'content-type': 'multipart/form-data; boundary=x' } });
  Object.defineProperty(request, 'complete', { get: () => body.readableEnded });
  const sizes: number[] = [];
  for await (const each of formParts(request as unknown as IncomingMessage, limits, deadlines)) {
    await sleep(restMs);
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

  test('are counted where they do not say how large they are', async () => {
    const many = Array.from({ length: 5 }, (_, index) => part(`${index}`, LARGE));
    await assert.rejects(read([...many, '--x--\r\n']), { code: 'too_large', message: /^The request is larger/ });
  });
});
