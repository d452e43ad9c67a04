import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { join } from '../../core/pieces.ts';
import { Deadlines } from '../../routing/deadlines.ts';
import { type BodyReader, readJson } from './body.ts';
import { Turns } from './turns.ts';

const reader: BodyReader = {
  limits: { clientBodyIdleMs: 1_000, jsonDepth: 10 },
  deadlines: new Deadlines(),
  turns: new Turns(),
};

test('a long chat is passed on in the pieces that came, unless these are many', async () => {
  const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(200_000) }] }));
  for (const [size, isJoined] of [
    [64 * 1024, false],
    [1_400, true],
    [1, true],
  ] as const) {
    const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
      body.subarray(index * size, (index + 1) * size),
    );
    const request = Object.assign(Readable.from(pieces, { objectMode: false }), { headers: {} });
    const read = await readJson(request as unknown as IncomingMessage, 1_000_000, reader, true);
    assert.ok(read.outlined);
    assert.equal(read.outlined.pieces.length, isJoined ? 1 : pieces.length);
    assert.deepEqual(join(read.outlined.pieces), body);
    const { value } = read;
    assert.deepEqual(value, JSON.parse(body.toString()));
    assert.ok(read.value === value, 'parsed once');
  }
});

test('what is wrong with a long chat is told of the whole of it', async () => {
  const wrong = Buffer.from(`{"messages":[{"role":"user","content":"${'x'.repeat(200_000)}"}],}`);
  const request = Object.assign(Readable.from([wrong], { objectMode: false }), { headers: {} });
  await assert.rejects(async () => readJson(request as unknown as IncomingMessage, 1_000_000, reader, true), {
    message: `The body is not valid JSON (at byte ${wrong.length - 1} or so).`,
  });
});
