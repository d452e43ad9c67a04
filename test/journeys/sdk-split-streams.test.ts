import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import OpenAI from 'openai';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { plainServer } from '../support/plain-server.ts';
import { chunk, cut, event, frame, type Json, streams, withoutOwn } from '../support/stream-shapes.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n';

/** What a client may ask for that changes how a stream is made fit for it; with `download_media` it is decoded instead. */
const asked = fc.constantFrom<object>(
  {},
  { stream_options: { include_usage: true } },
  { n: 2 },
  { n: 2, stream_options: { include_usage: true } },
  { download_media: true },
  { download_media: true, stream_options: { include_usage: true } },
);

/** Streams of any shape, also of two choices that take turns. */
const shapes = fc.oneof(
  { weight: 3, arbitrary: streams },
  fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: fc.tuple(fc.nat(1), event) },
        fc.tuple(fc.nat(1), fc.constant(chunk({}, 'stop'))),
      ),
      { maxLength: 16 },
    )
    .map((events) => `${events.map(([index, each]) => frame(ofChoice(index, each))).join('')}${frame('[DONE]')}`),
);

function ofChoice(index: number, { choices, ...others }: Json): Json {
  if (!Array.isArray(choices)) return others;
  return { ...others, choices: choices.map((choice) => (choice === null ? choice : { ...choice, index })) };
}

/** All that a client is told of an answer. */
interface Told {
  readonly chunks: readonly Json[];
  readonly error: readonly unknown[] | undefined;
}

describe('a stream that is relayed to the official OpenAI client', { timeout: 240_000 }, () => {
  let gateway: Gateway;
  let client: OpenAI;
  /** What the upstream writes for the next request, one piece a turn. */
  let pieces: readonly Buffer[] = [];
  let closeUpstream = (): void => {};
  before(async () => {
    const keep = (done: () => void): void => {
      closeUpstream = done;
    };
    const upstream = await plainServer({ after: keep }, async (request, { socket }) => {
      await once(request.resume(), 'end');
      socket?.setNoDelay();
      for (const piece of pieces) {
        socket?.write(piece);
        // What is read in between is read apart.
        await turn();
        await turn();
      }
      socket?.end();
    });
    gateway = await startGateway(
      `providers:\n  acme: { kind: openai, baseUrl: '${upstream.url}/v1', models: [test-model] }`,
    );
    client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  });
  after(async () => {
    await gateway.close();
    closeUpstream();
  });

  async function ask(sent: readonly Buffer[], fields: object): Promise<Told> {
    pieces = sent;
    const chunks: Json[] = [];
    try {
      const stream = await client.chat.completions.create({
        model: 'test-model',
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
        ...fields,
      } as OpenAI.ChatCompletionCreateParamsStreaming);
      for await (const chunk of stream) chunks.push(withoutOwn(chunk as unknown as Json));
      return { chunks, error: undefined };
    } catch (error) {
      if (!(error instanceof OpenAI.APIError)) throw error;
      return { chunks, error: [error.status, error.code, error.type, error.message] };
    }
  }

  /** The body in the parts of a chunked one, cut where it likes, too. */
  function chunked(body: string, at: readonly number[]): string {
    const parts = cut(body, at).map((part) => `${part.length.toString(16)}\r\n${part.toString('latin1')}\r\n`);
    return `${HEAD}transfer-encoding: chunked\r\n\r\n${parts.join('')}0\r\n\r\n`;
  }

  test('is the same to it whether the bytes come at once or in pieces of any size', async () => {
    const places = fc.array(fc.nat(4_000), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(shapes, places, places, asked, async (body, parts, at, fields) => {
        const whole = await ask([Buffer.from(`${HEAD}\r\n${body}`)], fields);
        assert.deepEqual(await ask(cut(`${HEAD}\r\n${body}`, at), fields), whole, 'cut');
        const bytes = Buffer.from(chunked(body, parts), 'latin1');
        assert.deepEqual(await ask([bytes], fields), whole, 'chunked');
        const places = [...new Set([0, ...at.map((place) => place % bytes.length), bytes.length])].sort(
          (a, b) => a - b,
        );
        const apart = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        assert.deepEqual(await ask(apart, fields), whole, 'chunked and cut');
      }),
      { numRuns: 100 },
    );
  });

  test('is the same to it byte by byte', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, asked, async (body, fields) => {
        const bytes = Buffer.from(`${HEAD}\r\n${body}`);
        const whole = await ask([bytes], fields);
        const single = Array.from(bytes, (byte) => Buffer.of(byte));
        assert.deepEqual(await ask(single, fields), whole);
      }),
      { numRuns: 15 },
    );
  });
});
