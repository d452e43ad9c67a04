import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Chunk } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import { ChatDecoder, decodeCompletion, StreamDecoder } from './decode.ts';

const LIMIT = 1024 * 1024;

function chunksOf(...events: readonly unknown[]): Chunk[] {
  const decoder = new ChatDecoder();
  const into: Chunk[] = [];
  for (const event of events) decoder.event(typeof event === 'string' ? event : JSON.stringify(event), into);
  decoder.end(into);
  return into;
}

const delta = (given: unknown, finish: unknown = null): object => ({
  choices: [{ index: 0, delta: given, finish_reason: finish }],
});

/** Objects with the names that are read, and anything for values. */
const names = [
  'choices',
  'delta',
  'message',
  'content',
  'error',
  'code',
  'usage',
  'tool_calls',
  'function',
  'index',
  'images',
];
const tricky = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, 0, 1, '', 'text', true, 429, '503', { toString: 1, valueOf: 1 }, { __proto__: null }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        ...names,
        'arguments',
        'reasoning',
        'audio',
        'type',
        'thinking',
        'finish_reason',
        'text',
        'image_url',
      ),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;

describe('ChatDecoder', () => {
  test('what Perplexity found comes once, at the end', () => {
    const found = {
      search_results: [{ title: 'A', url: 'https://a.example', snippet: 'Aa' }, { url: 'https://b.example' }, 5],
    };
    const sources = [
      { type: 'source', source: { url: 'https://a.example', title: 'A', text: 'Aa' } },
      { type: 'source', source: { url: 'https://b.example' } },
    ];
    const texts = ['It is[1]', ' so[2].', ' It is[1]', ' so[2].'];
    for (const [first, last] of [
      [found, found],
      [found, {}],
      [{}, found],
    ]) {
      assert.deepEqual(
        chunksOf(...texts.map((content) => ({ ...delta({ content }), ...first })), { ...delta({}, 'stop'), ...last }),
        [...texts.map((content) => ({ type: 'content', content })), ...sources, { type: 'finish', finish: 'stop' }],
      );
    }
    assert.equal(chunksOf({ ...delta({}, 'stop'), search_results: null })[0]?.type, 'finish');
  });

  test('tokens from a cache under the names that vendors have for them', () => {
    for (const names of [
      { prompt_cache_hit_tokens: 8 },
      { cached_tokens: 8 },
      { prompt_tokens_details: { cached_tokens: 8 }, cached_tokens: 5 },
    ]) {
      const [usage] = chunksOf({ ...delta({}, 'stop'), usage: { prompt_tokens: 10, completion_tokens: 2, ...names } });
      assert.equal(usage?.type === 'usage' && usage.usage.cachedTokens, 8, JSON.stringify(names));
    }
  });

  test('never throws anything but our own errors, whatever the upstream sends', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(tricky, fc.jsonValue())), (events) => {
        try {
          chunksOf(...events);
        } catch (error) {
          assert.ok(error instanceof SluiceError, String(error));
          assert.notEqual(error.code, 'internal');
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('the same for whole answers', () => {
    fc.assert(
      fc.property(fc.oneof(tricky, fc.jsonValue(), fc.string()), (answer) => {
        try {
          decodeCompletion(Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)));
        } catch (error) {
          assert.ok(error instanceof SluiceError, String(error));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('text, reasoning under both of its names, and refusals', () => {
    const chunks = chunksOf(
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'a' }),
      delta({ reasoning: 'b' }),
      delta({ reasoning_content: '', reasoning: 'c' }),
      delta({ reasoning_content: 'd', reasoning: 'd' }),
      delta({ content: 'text' }),
      delta({ refusal: 'no' }, 'stop'),
    );
    assert.deepEqual(chunks, [
      { type: 'reasoning', reasoning: 'a' },
      { type: 'reasoning', reasoning: 'b' },
      { type: 'reasoning', reasoning: 'c' },
      { type: 'reasoning', reasoning: 'd' },
      { type: 'content', content: 'text' },
      { type: 'refusal', refusal: 'no' },
      { type: 'finish', finish: 'stop' },
    ]);
  });

  test("content in parts, among them Mistral's thoughts", () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'so' },
    ];
    assert.deepEqual(chunksOf(delta({ content }, 'stop')).slice(0, 2), [
      { type: 'reasoning', reasoning: 'hm' },
      { type: 'content', content: 'so' },
    ]);
  });

  test('images, and audio in pieces as one', () => {
    const url = 'data:image/png;base64,AA==';
    const chunks = chunksOf(
      delta({ images: [{ type: 'image_url', image_url: { url } }] }),
      delta({ images: [{ image_url: { url: `${url}1` } }, { image_url: { url: `${url}2` } }] }),
      delta({ audio: { id: 'x', data: 'UklG', transcript: 'hel' } }),
      delta({ audio: { data: 'Rg==', transcript: 'lo' } }),
      delta({}, 'stop'),
    );
    assert.deepEqual(chunks.slice(0, 4), [
      { type: 'media', media: { kind: 'image', url } },
      { type: 'media', media: { kind: 'image', url: `${url}1`, number: 1 } },
      { type: 'media', media: { kind: 'image', url: `${url}2`, number: 2 } },
      {
        type: 'media',
        media: { kind: 'audio', url: 'data:audio/wav;base64,UklGRg==', mimeType: 'audio/wav', transcript: 'hello' },
      },
    ]);
  });

  test('sound without end is a failure, also between pieces of text', () => {
    const decoder = new StreamDecoder(16 * 1024 * 1024);
    const event = { choices: [{ index: 0, delta: { content: 'a', audio: { data: 'A'.repeat(4 * 1024 * 1024) } } }] };
    const bytes = Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
    assert.throws(
      () => {
        for (let times = 0; times < 20; times += 1) decoder.push(bytes, []);
      },
      { code: 'upstream_invalid' },
    );
  });

  test('usage comes before the finish, and the last one counts', () => {
    const usage = (total: number) => ({
      choices: [],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: total },
    });
    const chunks = chunksOf(
      delta({ content: 'a' }),
      usage(1),
      delta({}, 'length'),
      usage(18),
      { usage: null },
      { usage: {} },
      '[DONE]',
    );
    assert.deepEqual(
      chunks.map(({ type }) => type),
      ['content', 'usage', 'finish'],
    );
    assert.equal(chunks[1]?.type === 'usage' && chunks[1].usage.totalTokens, 18);
    assert.deepEqual(chunks[2], { type: 'finish', finish: 'length' });
  });

  test('an end without a reason is one after [DONE] only', () => {
    assert.deepEqual(chunksOf(delta({ content: 'a' }), '[DONE]').at(-1), { type: 'finish', finish: 'stop' });
    const call = { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } };
    assert.deepEqual(chunksOf(delta({ tool_calls: [call] }), ' [DONE] ').at(-1), {
      type: 'finish',
      finish: 'tool_calls',
    });
    assert.throws(() => chunksOf(delta({ content: 'a' })), { code: 'upstream_cut' });
  });

  test('an end without a reason in the middle of a call is none', () => {
    const piece = (index: number, written: string, id?: string) =>
      delta({ tool_calls: [{ index, ...(id && { id }), function: { ...(id && { name: 'f' }), arguments: written } }] });
    const begun = [piece(0, '{"a":', 'one'), piece(1, '{}', 'two')];
    assert.throws(() => chunksOf(...begun, '[DONE]'), { code: 'upstream_cut' });
    assert.throws(() => chunksOf(delta({ function_call: { name: 'f', arguments: '{' } }), '[DONE]'), {
      code: 'upstream_cut',
    });
    const finish = (...events: unknown[]) => chunksOf(...events, '[DONE]').at(-1);
    assert.deepEqual(finish(...begun, piece(0, '1}')), { type: 'finish', finish: 'tool_calls' });
    assert.deepEqual(finish(piece(0, '', 'one')), { type: 'finish', finish: 'tool_calls' });
    assert.deepEqual(finish(...begun, delta({}, 'length')), { type: 'finish', finish: 'length' });
    const freeform = { index: 0, id: 'one', type: 'custom', custom: { name: 'f', input: '{' } };
    assert.deepEqual(finish(delta({ tool_calls: [freeform] })), { type: 'finish', finish: 'tool_calls' });
  });

  test('other choices than the first are left to those who asked for them', () => {
    const other = { choices: [{ index: 1, delta: { content: 'b' }, finish_reason: 'stop' }] };
    assert.throws(() => chunksOf(other), { code: 'upstream_cut' });
  });

  test('an error inside the stream is thrown; members that say nothing are not', () => {
    assert.throws(() => chunksOf({ error: { message: 'full', code: 503 } }), { code: 'overloaded', message: 'full' });
    assert.throws(() => chunksOf({ error: 'text' }), { code: 'provider_failed', message: 'text' });
    for (const error of [null, false, '']) assert.equal(chunksOf({ ...delta({}, 'stop'), error }).length, 1);
  });
});

describe('StreamDecoder', () => {
  test('what came before a failure is there when it is thrown', () => {
    const into: Chunk[] = [];
    const bytes = Buffer.from(
      `data: ${JSON.stringify(delta({ content: 'a' }))}\n\ndata: {"error":{"message":"x"}}\n\n`,
    );
    assert.throws(() => new StreamDecoder(LIMIT).push(bytes, into), { code: 'provider_failed' });
    assert.deepEqual(into, [{ type: 'content', content: 'a' }]);
  });

  test('is complete once a reason was named, done once nothing follows', () => {
    const decoder = new StreamDecoder(LIMIT);
    const into: Chunk[] = [];
    const states = [delta({ content: 'a' }), delta({}, 'stop'), '[DONE]'].map((event) => {
      decoder.push(Buffer.from(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`), into);
      return [decoder.complete, decoder.done];
    });
    assert.deepEqual(states, [
      [false, false],
      [true, false],
      [true, true],
    ]);
  });
});

describe('whole answers', () => {
  const whole = (choice: object, more: object = {}): Buffer =>
    Buffer.from(JSON.stringify({ choices: [choice], ...more }));

  test('are complete without a reason, and with a byte order mark', () => {
    const body = Buffer.concat([Buffer.from('\ufeff'), whole({ message: { content: 'a' } })]);
    assert.deepEqual(decodeCompletion(body), [
      { type: 'content', content: 'a' },
      { type: 'finish', finish: 'stop' },
    ]);
  });

  test('must be completions', () => {
    for (const body of [
      '',
      '<html>',
      '[]',
      '{}',
      'null',
      '{"choices":[]}',
      '{"choices":{}}',
      '{"choices":[{"index":0',
    ]) {
      assert.throws(() => decodeCompletion(Buffer.from(body)), { code: 'upstream_invalid' }, body);
    }
    assert.throws(() => decodeCompletion(Buffer.from('{"error":{"message":"x","code":429}}')), {
      code: 'rate_limited',
    });
  });
});
