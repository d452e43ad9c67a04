import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Chunk } from '../../src/core/chunk.ts';
import { SluiceError } from '../../src/core/errors.ts';
import type { ResponseHead } from '../../src/http/responses/response.ts';
import { ResponsesStream } from '../../src/http/responses/stream.ts';
import { EventTranslator } from '../../src/providers/ai-sdk/answering.ts';
import { ResponseEvents } from '../../src/providers/ai-sdk/responses-events.ts';
import { HOSTED_ITEMS, hostedAnswer } from '../support/hosted-answer.ts';
import { property } from './cases.ts';
import type { Random } from './random.ts';
import { hostile } from './schema-values.ts';

type Json = Record<string, unknown>;

/** The answer as bytes in pieces → chunks. */
function chunksOf(pieces: readonly Uint8Array[]): readonly Chunk[] {
  const translator = new EventTranslator(new ResponseEvents({ label: 'Test', secrets: [] }), 1024 * 1024);
  const chunks: Chunk[] = [];
  for (const piece of pieces) translator.translate(piece, chunks);
  return chunks;
}

const HEAD: ResponseHead = {
  id: `resp_${'0'.repeat(48)}`,
  createdAt: 0,
  model: 'm',
  provider: null,
  isBackground: false,
  isEncrypted: true,
  echo: { tools: [{ type: 'custom', name: 'patch' }] },
};

/** Events as no good upstream sends them: out of order, twice, with members of other types. */
function spoilt(random: Random): Buffer {
  const items = random.many(random.below(5), () => random.pick(HOSTED_ITEMS));
  const events = hostedAnswer(items)
    .split('\n\n')
    .filter((event) => event !== '');
  const sent = events.flatMap((event) => {
    if (random.chance(0.8)) return [event];
    const data = JSON.parse(event.slice(event.indexOf('data: ') + 6)) as Json;
    const inner = typeof data['item'] === 'object' && random.chance(0.5) ? (data['item'] as Json) : data;
    inner[random.pick(Object.keys(inner))] = hostile(random);
    // A kind whose members are looked at here.
    if (random.chance(0.1)) Object.assign(inner, { type: 'additional_tools', tools: hostile(random) });
    return random.pick([[], [event, event], [`data: ${JSON.stringify(data)}`]]);
  });
  return Buffer.from(`${sent.join('\n\n')}\n\n`);
}

describe('items of an upstream of the Responses API', () => {
  test('are the same, however their bytes are split', async () => {
    const bytes = Buffer.from(hostedAnswer(HOSTED_ITEMS));
    const whole = chunksOf([bytes]);
    await property(300, (random) => {
      assert.deepEqual(chunksOf(random.split(bytes)), whole);
    });
  });

  test('become events that begin and end, or a failure, whatever the upstream says', async () => {
    await property(1_000, (random) => {
      const bytes = spoilt(random);
      const said = JSON.stringify(bytes.toString()).slice(0, 2_000);
      let chunks: readonly Chunk[];
      try {
        chunks = chunksOf([bytes]);
      } catch (error) {
        assert.ok(error instanceof SluiceError, said);
        return;
      }
      const stream = new ResponsesStream(HEAD);
      const events = `${stream.encode(chunks)}`
        .split('\n\n')
        .filter((event) => event !== '')
        .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)) as Json);
      assert.deepEqual(
        events.map((event) => event['sequence_number']),
        events.map((_, index) => index),
        said,
      );
      const places = (type: string): readonly number[] =>
        events.filter((event) => event['type'] === type).map((event) => Number(event['output_index']));
      const begun = places('response.output_item.added');
      const done = places('response.output_item.done');
      assert.deepEqual(begun, [...begun.keys()], said);
      assert.equal(new Set(done).size, done.length, said);
      assert.ok(
        done.every((place) => new Set(begun).has(place)),
        said,
      );
    });
  });
});
