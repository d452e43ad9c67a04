import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AnswerReader, NotHttp } from '../../src/outbound/answer-reader.ts';
import { property } from './cases.ts';
import type { Random } from './random.ts';

/** An answer of an upstream, and what is in it. */
function answerOf(random: Random): { readonly bytes: Buffer; readonly expected: unknown } {
  const body = random.bytes(random.pick([0, 5, 300]));
  const fields: string[] = random.many(random.below(4), () => {
    const value = random
      .text(4)
      .replaceAll(/[^\t\x20-\x7e]/g, '')
      .trim();
    return `${random.pick(['x', 'X-Own', 'set-cookie', 'date', '__proto__', 'constructor'])}:${random.pick([' ', '', '\t'])}${value}`;
  });
  const framing = random.pick(['counted', 'chunked', 'endless']);
  if (framing === 'counted') fields.push(`Content-Length: ${body.length}`);
  if (framing === 'chunked') fields.push('transfer-encoding: chunked');
  const pieces =
    framing === 'chunked'
      ? [
          ...random
            .split(body)
            .filter(({ length }) => length > 0)
            .map(chunkOfBody),
          END,
        ]
      : [body];
  const interim = random.chance(0.1) ? 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n' : '';
  const head = `${interim}HTTP/1.1 ${random.pick(['200 OK', '404', '500 \u00fc'])}\r\n${fields.map((each) => `${each}\r\n`).join('')}\r\n`;
  return {
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), ...pieces]),
    expected: { body: body.toString('latin1'), isWhole: true, isFree: framing !== 'endless' },
  };
}

const END = Buffer.from('0\r\n\r\n');

function chunkOfBody(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** What is read of an answer, and its head apart. */
function readAnswer(pieces: readonly Buffer[]): { readonly head: unknown; readonly found: unknown } {
  let head: unknown;
  let body = '';
  const reader = new AnswerReader(
    {
      onHead: (status, headers) => {
        head = { status, headers };
      },
      onData: (bytes) => {
        body += bytes.toString('latin1');
      },
      onEnd: () => {},
    },
    16_384,
  );
  try {
    // It may move about what it gets.
    for (const piece of pieces) reader.push(Buffer.from(piece));
  } catch (error) {
    assert.ok(error instanceof NotHttp, String(error));
    return { head: undefined, found: 'refused' };
  }
  const { isFree } = reader;
  return { head, found: { body, isWhole: reader.close(), isFree } };
}

describe('answers of upstreams', () => {
  test('are read as they were made, however they are split', async () => {
    await property(1_500, (random) => {
      const { bytes, expected } = answerOf(random);
      const whole = readAnswer([bytes]);
      assert.deepEqual(whole.found, expected, JSON.stringify(bytes.toString('latin1')));
      assert.deepEqual(readAnswer(random.split(bytes)), whole, JSON.stringify(bytes.toString('latin1')));
    });
  });

  test('are read or refused when they are broken, however they are split', async () => {
    await property(1_500, (random) => {
      const bytes = spoiltBytes(answerOf(random).bytes, random);
      const pieces = random.split(bytes);
      assert.deepEqual(readAnswer(pieces), readAnswer([bytes]), JSON.stringify(bytes.toString('latin1')));
    });
  });
});

function spoiltBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length);
  const inserted = random.pick([
    random.bytes(4),
    Buffer.from('\r\n'),
    Buffer.from('\n\n'),
    Buffer.from(' '),
    Buffer.from('0\r\n\r\n'),
    Buffer.alloc(0),
  ]);
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + random.below(4))]);
}
