import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SluiceError } from '../core/errors.ts';
import { completionBytes } from './completion.ts';

const OPTIONS = { provider: 'acme', model: 'm-1', promptTokens: 100, wantsJson: false };
const COUNTS = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const DETAILS = { prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } };
const USAGE = { ...COUNTS, ...DETAILS };

type Json = Record<string, unknown>;

function completion(message: unknown, more: Json = {}): Json {
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
  return { id: 'c-1', object: 'chat.completion', created: 1_700_000_000, model: 'm-2', choices, usage: USAGE, ...more };
}

/** Answers come in pieces of any size. */
function inPieces(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const size = Math.max(1, Math.ceil(bytes.length / 5));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

function complete(text: string): {
  readonly bytes: Buffer;
  readonly usage: ReturnType<typeof completionBytes>['usage'];
} {
  const { pieces, usage } = completionBytes(inPieces(text), OPTIONS);
  return { bytes: Buffer.concat(pieces), usage };
}

function mended(answer: unknown): Json {
  const { bytes } = complete(JSON.stringify(answer));
  return JSON.parse(bytes.toString()) as Json;
}

const messageOf = (answer: Json): Json => (answer['choices'] as { message: Json }[])[0]?.message ?? {};
const plain = { role: 'assistant', content: 'Grüße', refusal: null };
/** More than what is parsed at once. */
const long = 'ü"\\\n'.repeat(40_000);

describe('completionBytes', () => {
  for (const content of ['Grüße', long]) {
    test(`${content.length} characters: a good answer stays byte for byte, save for the provider`, () => {
      const text = JSON.stringify(completion({ ...plain, content }), null, 1).replace('1700000000', '1.7e9');
      const { bytes, usage } = complete(text);
      assert.equal(bytes.toString(), text.replace('{', '{"provider":"acme",'));
      assert.equal(usage?.totalTokens, 18);
    });

    test(`${content.length} characters: counts that are missing in the usage are added, and nothing else changes`, () => {
      for (const more of [{}, { timings: { x: 1 } }, { other: { usage: { total_tokens: 5 } } }]) {
        if (content === long && 'other' in more) continue;
        const text = JSON.stringify(completion({ ...plain, content }, more), null, 1).replace('1700000000', '1.7e9');
        const whole = JSON.stringify(USAGE, null, 1).replaceAll('\n', '\n ');
        for (const [given, expected] of [
          [COUNTS, USAGE],
          [{ prompt_tokens: 11, completion_tokens: 7 }, USAGE],
          [
            { ...COUNTS, cost: 1, prompt_tokens_details: null },
            { ...USAGE, cost: 1 },
          ],
          [
            { ...COUNTS, prompt_tokens: '11', completion_tokens: null },
            { ...USAGE, prompt_tokens: 0, completion_tokens: 0 },
          ],
        ]) {
          assert.ok(text.includes(whole));
          const { bytes, usage } = complete(text.replace(whole, JSON.stringify(given)));
          const answer = JSON.parse(bytes.toString()) as Json;
          assert.deepEqual(answer['usage'], expected);
          assert.equal(usage?.totalTokens, 18);
          assert.match(bytes.toString(), /1\.7e9/);
          assert.deepEqual({ ...answer, usage: USAGE }, { provider: 'acme', ...JSON.parse(text) });
        }
      }
    });

    test(`${content.length} characters: what shall be JSON is nothing else`, () => {
      const json = JSON.stringify({ content });
      for (const text of [json, ` ${json}\n`, `Here you are:\n\`\`\`json\n${json}\n\`\`\`\nDone.`]) {
        const { pieces } = completionBytes(inPieces(JSON.stringify(completion({ ...plain, content: text }))), {
          ...OPTIONS,
          wantsJson: true,
        });
        assert.equal(messageOf(JSON.parse(Buffer.concat(pieces).toString()))['content'], json);
      }
    });

    test(`${content.length} characters: nothing is null that has to be absent`, () => {
      const message = { ...plain, content, tool_calls: null, audio: null, reasoning: null };
      assert.deepEqual(messageOf(mended(completion(message))), { ...plain, content });
    });

    test(`${content.length} characters: a provider of the upstream's own gives way`, () => {
      for (const answer of [
        { provider: 'theirs', ...completion({ ...plain, content }) },
        completion({ ...plain, content }, { provider: 'theirs' }),
      ]) {
        const { bytes } = complete(JSON.stringify(answer));
        assert.equal(bytes.toString().split('"provider"').length, 2);
        assert.equal((JSON.parse(bytes.toString()) as Json)['provider'], 'acme');
      }
    });

    test(`${content.length} characters: an upstream that does not count is counted by its texts alone`, () => {
      const called = { type: 'function', id: 'c', function: { name: 'f', arguments: '{"city":"Oslo"}' } };
      const message = { content, reasoning_content: 'Let me think.', tool_calls: [called] };
      const tokens = Math.round(Buffer.byteLength(content) / 4) + 3 + 4;
      for (const more of [{}, { logprobs: { content: Array.from({ length: 100 }, () => ({ token: 'x' })) } }]) {
        for (const usage of [undefined, {}, { prompt_tokens: null, completion_tokens: null, total_tokens: null }]) {
          const counted = complete(
            JSON.stringify(completion(message, { choices: [{ message, ...more }], usage })),
          ).usage;
          assert.deepEqual([counted?.completionTokens, counted?.estimated], [tokens, true]);
        }
      }
    });

    test(`${content.length} characters: what an upstream leaves out is added`, () => {
      const answer = mended({ choices: [{ message: { content } }] });
      assert.match(String(answer['id']), /^chatcmpl-[A-Za-z0-9]{28}$/);
      assert.equal(answer['object'], 'chat.completion');
      assert.ok(Number.isSafeInteger(answer['created']));
      assert.equal(answer['model'], 'm-1');
      assert.deepEqual(answer['choices'], [
        { message: { content, role: 'assistant' }, index: 0, finish_reason: 'stop' },
      ]);
      assert.equal((answer['usage'] as Json)['estimated'], true);
    });

    test(`${content.length} characters: thoughts have both of their names`, () => {
      const other = messageOf(mended(completion({ ...plain, reasoning: 'hm', content })));
      assert.equal(other['reasoning_content'], 'hm');
      const message = messageOf(mended(completion({ ...plain, reasoning_content: content })));
      assert.equal(message['reasoning'], content);
      // Between two long texts.
      assert.equal(
        messageOf(mended(completion({ role: 'assistant', content, reasoning_content: 'hm', refusal: content })))[
          'reasoning'
        ],
        'hm',
      );
    });
  }

  test('content that is null becomes an empty text; parts become one', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = messageOf(mended(completion({ role: 'assistant', content: null, tool_calls: [call] })));
    assert.deepEqual(message, { role: 'assistant', content: '', tool_calls: [call] });
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const parts = messageOf(mended(completion({ role: 'assistant', content })));
    assert.deepEqual([parts['content'], parts['reasoning']], ['ab', 'hm']);
  });

  test('tool calls without an id, or with an object for arguments, become what clients can use', () => {
    const call = { function: { name: 'f', arguments: { x: 1 } } };
    const answer = mended(completion({ role: 'assistant', content: '', tool_calls: [call] }));
    const [only] = messageOf(answer)['tool_calls'] as Json[];
    assert.match(String(only?.['id']), /^call_/);
    assert.equal(only?.['type'], 'function');
    assert.deepEqual(only?.['function'], { name: 'f', arguments: '{"x":1}' });
  });

  test('calls of freeform tools, and what else is said of a call, stay', () => {
    const custom = { id: 'a', type: 'custom', custom: { name: 'code', input: 'print(1)' } };
    const signed = { function: { name: 'f', arguments: '{}' }, extra_content: { google: { thought_signature: 'S' } } };
    const answer = mended(completion({ role: 'assistant', content: null, tool_calls: [custom, signed] }));
    const [first, second] = messageOf(answer)['tool_calls'] as Json[];
    assert.deepEqual(first, custom);
    assert.deepEqual(second, { ...signed, id: second?.['id'], type: 'function' });
  });

  test('what is no completion is refused, an error is thrown as such', () => {
    for (const body of [
      '',
      'null',
      '[]',
      '<html>',
      '{}',
      '{"choices":[]}',
      '{"choices":[null]}',
      `{"choices":[{"message":{"content":"${'x'.repeat(70_000)}`,
    ]) {
      assert.throws(() => complete(body), { code: 'upstream_invalid' }, body.slice(0, 50));
    }
    const error = { message: 'full', code: 503 };
    const choices = [{ index: 0, message: plain, finish_reason: 'error', error }];
    const endedBy = [completion(plain, { choices }), completion({ ...plain, content: long }, { choices, x: long })];
    for (const answer of [{ error }, { ...completion(plain), error }, { error, x: long }, ...endedBy]) {
      assert.throws(() => mended(answer), { code: 'overloaded', message: 'full' });
    }
  });

  test('whatever comes, it is refused or becomes a completion', () => {
    const names = [
      'choices',
      'message',
      'content',
      'tool_calls',
      'function',
      'arguments',
      'usage',
      'error',
      'finish_reason',
      'index',
      'id',
    ];
    const tricky = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, 0, '', 'text', { toString: 1, valueOf: 1 }),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.oneof(tricky, fc.record({ choices: fc.array(tricky) }), fc.jsonValue()), (value) => {
        let answer: Json;
        try {
          answer = mended(value);
        } catch (error) {
          assert.ok(error instanceof SluiceError, String(error));
          return;
        }
        assert.equal(answer['provider'], 'acme');
        for (const choice of answer['choices'] as { message: Json; finish_reason: unknown }[]) {
          assert.equal(typeof choice.message['content'], 'string');
          assert.equal(typeof choice.finish_reason, 'string');
          for (const name of ['tool_calls', 'audio', 'reasoning']) assert.notEqual(choice.message[name], null);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
