import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { openKept } from './kept-world.ts';

test('a delta that says nothing, or no text, has a content all the same, wherever it stands', {
  timeout: 60_000,
}, async (context) => {
  const world = await openKept();
  context.after(() => world.close());
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'test-model' };
  const chunk = (delta: unknown, finish: string | null = null): string =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A' } }];
  const client = new OpenAI({ baseURL: `${world.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  for (const deltas of [
    [{ role: 'assistant' }, { content: 'He' }, {}, { content: 'llo' }, { refusal: null }, { annotations }, null],
    // Those who name the speaker each time.
    [{ role: 'assistant', content: 'He' }, { role: 'assistant' }, { role: 'assistant', content: 'llo' }, undefined],
  ]) {
    world.answers({ raw: `${deltas.map((delta) => chunk(delta)).join('')}${chunk({}, 'stop')}data: [DONE]\n\n` });
    const stream = await client.chat.completions.create({
      model: 'acme/test-model',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    });
    const contents: unknown[] = [];
    for await (const { choices } of stream) contents.push(choices[0]?.delta.content);
    const expected = deltas.map((delta) => (delta && 'content' in delta ? delta.content : ''));
    assert.deepEqual(contents, [...expected, '']);
  }
});
