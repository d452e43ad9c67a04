import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openWorld, type Seat, type World } from './responses-world.ts';

const HEAD = { id: 'resp_1', object: 'response', created_at: 1_741_476_542, model: 'gpt-5.2', output: [] };
const PARTS = ['**Looking**\n\nAt both.', '**Choosing**\n\nThe first.'];
const THOUGHTS = PARTS.join('\n\n');

/** A summary of two parts, as OpenAI sends it, and an answer. */
function summary(): string {
  const place = { item_id: 'rs_0', output_index: 0 };
  const done = PARTS.map((text) => ({ type: 'summary_text', text }));
  const events: Record<string, unknown>[] = [
    { type: 'response.created', response: { ...HEAD, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_0', summary: [] } },
  ];
  for (const [summary_index, part] of done.entries()) {
    const at = { ...place, summary_index };
    events.push(
      { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...at, delta: part.text.slice(0, 4) },
      { type: 'response.reasoning_summary_text.delta', ...at, delta: part.text.slice(4) },
      { type: 'response.reasoning_summary_text.done', ...at, text: part.text },
      { type: 'response.reasoning_summary_part.done', ...at, part },
    );
  }
  const message = { type: 'message', id: 'msg_1', status: 'in_progress', role: 'assistant', content: [] };
  events.push(
    { type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', id: 'rs_0', summary: done } },
    { type: 'response.output_item.added', output_index: 1, item: message },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, content_index: 0, delta: 'This.' },
    { type: 'response.output_item.done', output_index: 1, item: { ...message, status: 'completed' } },
    {
      type: 'response.completed',
      response: { ...HEAD, status: 'completed', usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } },
    },
  );
  return events
    .map((event, sequence_number) => {
      const data = { sequence_number, ...event };
      return `event: ${String(event['type'])}\ndata: ${JSON.stringify(data)}\n\n`;
    })
    .join('');
}

describe('thoughts of several blocks as one text', { timeout: 60_000 }, () => {
  let world: World;
  let seat: Seat;
  before(async () => {
    world = await openWorld();
    seat = world.seat('openai-responses');
    seat.answers({ raw: summary() });
  });
  after(() => world.close());

  async function post(path: string, body: Record<string, unknown>): Promise<string> {
    const response = await fetch(world.gateway.origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: seat.model, messages: [{ role: 'user', content: 'Which?' }], ...body }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return text;
  }

  /** The JSON of every line, of `data:` where it is a stream of events. */
  const lines = (text: string): Record<string, unknown>[] =>
    text
      .split('\n')
      .map((line) => line.replace(/^data: /, ''))
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));

  const chat = (stream: boolean) =>
    world.client.chat.completions.create({
      model: seat.model,
      messages: [{ role: 'user', content: 'Which?' }],
      stream,
    });

  interface ThoughtDelta {
    readonly reasoning?: string;
    readonly reasoning_details?: { readonly text?: string; readonly index: number }[];
  }

  const deltas = async (model: string): Promise<ThoughtDelta[]> =>
    lines(await post('/v1/chat/completions', { model, stream: true })).flatMap((chunk) =>
      (chunk['choices'] as { delta: ThoughtDelta }[]).map(({ delta }) => delta),
    );

  test('a stream of the chat API, with each block at its place', async () => {
    let thoughts = '';
    const blocks: string[] = [];
    type Delta = { reasoning_content?: string; reasoning_details?: { text: string; index: number }[] };
    const stream = (await chat(true)) as AsyncIterable<{ choices: { delta: Delta }[] }>;
    for await (const { choices } of stream) {
      const { reasoning_content: text = '', reasoning_details: details = [] } = choices[0]?.delta ?? {};
      thoughts += text;
      for (const detail of details) blocks[detail.index] = (blocks[detail.index] ?? '') + detail.text;
    }
    assert.equal(thoughts, THOUGHTS);
    assert.deepEqual(blocks, PARTS);
  });

  test('a client of OpenRouter, which reads `reasoning` only where no details are, reads each thought once', async () => {
    for (const format of ['openai-responses', 'anthropic', 'google'] as const) {
      const { model, answers } = world.seat(format);
      if (format !== 'openai-responses') answers({ reasoning: ['I', ' think.'], text: ['This.'] });
      let read = '';
      for (const { reasoning, reasoning_details: details } of await deltas(model)) {
        read += details === undefined ? (reasoning ?? '') : details.map(({ text = '' }) => text).join('');
      }
      assert.equal(read, format === 'openai-responses' ? PARTS.join('') : 'I think.', format);
    }
  });

  test('the pieces of a signed block go back as that block, joined by the client or not, and so does the last one', async () => {
    const { model, answers } = world.seat('anthropic');
    answers({ reasoning: ['I', ' think.'], text: ['This.'] });
    const pieces = (await deltas(model)).flatMap(({ reasoning_details: details = [] }) => details);
    const joined = { index: 0, ...pieces.at(-1), text: pieces.map(({ text = '' }) => text).join('') };
    const whole = { type: 'thinking', thinking: 'I think.', signature: 'sig-0' };
    const last = { ...pieces.at(-1), text: ' think.' };
    for (const details of [pieces, [joined], pieces.slice(-1), [last], [...pieces, { ...joined, index: 1 }]]) {
      answers({ text: ['That.'] });
      const asked = { role: 'user', content: 'Which?' };
      const said = { role: 'assistant', content: 'This.', reasoning: 'I think.', reasoning_details: details };
      await post('/v1/chat/completions', { model, messages: [asked, said, asked] });
      const { messages } = world.seat('anthropic').last.body as { messages: { content: { type: string }[] }[] };
      const thoughts = messages[1]?.content.filter(({ type }) => type === 'thinking');
      assert.deepEqual(thoughts, details.length > pieces.length ? [whole, whole] : [whole]);
    }
  });

  test('no piece of a stream of the chat API has thoughts without a word', async () => {
    for (const format of ['openai-responses', 'anthropic', 'google'] as const) {
      const { model, answers } = world.seat(format);
      if (format !== 'openai-responses') answers({ reasoning: ['I', ' think.'], text: ['This.'] });
      const pieces = lines(await post('/v1/chat/completions', { model, stream: true })) as {
        choices?: { delta: Record<string, unknown> }[];
      }[];
      const deltas = pieces.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta));
      const named = deltas.filter((delta) => 'reasoning' in delta || 'reasoning_content' in delta);
      assert.ok(named.length > 0, format);
      for (const { reasoning, reasoning_content: content } of named) {
        assert.ok(typeof reasoning === 'string' && reasoning !== '', format);
        assert.equal(content, reasoning);
      }
      if (format !== 'google')
        assert.ok(
          deltas.some((delta) => 'reasoning_details' in delta),
          format,
        );
    }
  });

  test('a whole answer of the chat API, with each block as it came beside it', async () => {
    const { choices } = (await chat(false)) as unknown as {
      choices: { message: { reasoning: string; reasoning_details: { text: string }[] } }[];
    };
    const message = choices[0]?.message;
    assert.equal(message?.reasoning, THOUGHTS);
    assert.deepEqual(
      message?.reasoning_details.map(({ text }) => text),
      PARTS,
    );
  });

  test("Ollama's lines", async () => {
    const said = lines(await post('/api/chat', { think: true }));
    const thoughts = said.map(({ message }) => (message as { thinking?: string }).thinking ?? '');
    assert.equal(thoughts.join(''), THOUGHTS);
  });

  test('the conversation', async () => {
    const said = lines(await post('/backend-api/v2/conversation', {}));
    const thoughts = said.filter(({ type }) => type === 'reasoning').map(({ token }) => token);
    assert.equal(thoughts.join(''), THOUGHTS);
  });

  test('Anthropic has a place for each block', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1_024 };
    const answer = JSON.parse(await post('/v1/messages', { max_tokens: 2_000, thinking, stream: false })) as {
      content: { type: string; thinking?: string }[];
    };
    assert.deepEqual(
      answer.content.filter(({ type }) => type === 'thinking').map(({ thinking }) => thinking),
      PARTS,
    );
  });
});
