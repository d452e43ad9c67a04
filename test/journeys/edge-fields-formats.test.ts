import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HI, openWorld, type World } from './edge-world.ts';

const STOPS = Array.from({ length: 10_000 }, (_, index) => `stop ${index}`);
const { model, messages } = HI;
const CONTENTS = [{ role: 'user', parts: [{ text: 'Hi' }] }];

/** Requests that would cost an upstream, or us, more than anyone can want; `edge-fields.test.ts` has those of chats. */
const BEYOND: readonly (readonly [path: string, good: object, field: string, changes: readonly object[]])[] = [
  ...['/v1/images/generations', '/v1/images/generate', '/v1/images/edits'].flatMap((path) => {
    const good = { model, prompt: 'Hi', image: 'data:image/png;base64,iVBORw0KGgo=' };
    const sides = [1e9, 16_385, 0, -1, 1.5, '512'];
    return [
      [path, good, 'width', sides.map((width) => ({ width }))] as const,
      [path, good, 'height', sides.map((height) => ({ height }))] as const,
      [path, good, 'size', [{ size: '9'.repeat(33) }, { size: 1e9 }, { size: [1, 1] }]] as const,
      [path, good, 'n', [{ n: 1e9 }, { n: 0 }]] as const,
      [path, good, 'num_inference_steps', [{ num_inference_steps: 1e9 }]] as const,
    ];
  }),
  ['/v1/messages', { model, messages, max_tokens: 9 }, 'stop_sequences', [{ stop_sequences: STOPS }]],
  ['/v1/completions', { model, prompt: 'Hi' }, 'stop', [{ stop: STOPS }]],
  ['/v1/completions', { model, prompt: 'Hi' }, 'n', [{ n: 1e9 }]],
  ['/v1/completions', { model, prompt: 'Hi' }, 'best_of', [{ best_of: 1e9 }]],
  ...(['stopSequences', 'candidateCount'] as const).map((field) => {
    const generationConfig = { [field]: field === 'stopSequences' ? STOPS : 1e9 };
    return [`/v1beta/models/${model}:generateContent`, { contents: CONTENTS }, field, [{ generationConfig }]] as const;
  }),
  ['/api/chat', { model, messages }, 'stop', [{ options: { stop: STOPS } }]],
];

describe('figures and lists beyond all bounds', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const [path, good, field, changes] of BEYOND) {
    test(`${field} of ${path}`, async () => {
      const asked = () => world.upstream.requests.filter(({ method }) => method === 'POST').length;
      const before = asked();
      for (const change of changes) {
        const { status, text } = await world.ask({ path, body: { ...good, ...change } });
        const hint = `${JSON.stringify(change).slice(0, 100)}: ${status} ${text.slice(0, 300)}`;
        assert.ok(status === 400 || status === 422, hint);
        assert.ok(text.includes(field), hint);
      }
      assert.equal(asked(), before);
    });
  }

  test('an effort without a word', async () => {
    for (const [path, body, field, wanted] of [
      ['/v1/messages', { messages, max_tokens: 9, output_config: { effort: '' } }, 'output_config.effort', 400],
      ['/v1/responses', { input: 'Hi', reasoning: { effort: ' ' } }, 'reasoning.effort', 422],
    ] as const) {
      const { status, text } = await world.ask({ path, body: { model, ...body } });
      assert.equal(status, wanted, text);
      assert.ok(text.includes(`'${field}' must be a word such as none, low, medium or high`), text);
    }
  });
});
