import fc from 'fast-check';

/** Streams in the wire format of OpenAI's chat completions, as upstreams write them, and as they may be written. */

export type Json = Record<string, unknown>;

export const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
export const HEAD = { id: 'c-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm-2' };

/** A chunk as upstreams write it. */
export function chunk(delta: unknown, finish: unknown = null, more: Json = {}): Json {
  return { ...HEAD, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...more };
}

/** A chunk as Cerebras and others write it: what it says first, and no word on an end. */
export function bare(delta: unknown, more: Json): Json {
  return { choices: [{ delta, index: 0 }], ...more };
}

export const frame = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
/** The bytes in pieces, cut at these places. */
export function cut(text: string, at: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const places = [...new Set([0, ...at.map((place) => place % (bytes.length + 1)), bytes.length])].sort(
    (a, b) => a - b,
  );
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    'data: [DONE]\n\n',
    '"finish_reason":"stop"',
    '\r\n',
    '\\',
    '{"error":{"message":"x"}}',
    '\u2028',
    '"delta":{',
  ),
);
const delta = fc.oneof(
  { weight: 8, arbitrary: text.map((content): Json => ({ content })) },
  fc.constantFrom<Json>({}, { content: null }, { role: 'assistant', content: '' }, { content: '', tool_calls: null }),
  text.map((reasoning_content): Json => ({ content: null, reasoning_content })),
  text.map((reasoning): Json => ({ reasoning })),
  text.map((refusal): Json => ({ refusal })),
  text.map((input): Json => ({ tool_calls: [{ index: 0, id: 'c', type: 'custom', custom: { name: 'f', input } }] })),
  text.map((written): Json => ({ tool_calls: [{ id: 'c', function: { name: 'f', arguments: written } }] })),
  fc.constantFrom<Json>({ images: [{}] }, { audio: { data: 'AA==' } }, { function_call: { name: 'f' } }),
  text.map(
    (written): Json => ({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: written } }],
    }),
  ),
  fc.constant<Json>({ content: [{ type: 'text', text: 'part' }] }),
);
export const event = fc.oneof(
  { weight: 10, arbitrary: delta.map((given) => chunk(given)) },
  delta.map((given) => chunk(given, null, { usage: null })),
  delta.map((given) => chunk(given, null, { id: 'other', model: '', created: 'soon' })),
  delta.map((given) => chunk(given, null, { model: 'm-3', created: 1_700_000_001 })),
  delta.map((given) => chunk(given, null, { provider: 'their own' })),
  { weight: 4, arbitrary: delta.map((given) => bare(given, HEAD)) },
  { weight: 4, arbitrary: delta.map((given) => bare(given, { id: 'c-1' })) },
  fc.constant<Json>({ ...HEAD, choices: [] }),
  fc.constant<Json>({ type: 'ping' }),
  fc.constant<Json>({ ...HEAD, choices: [null, { index: 0 }] }),
  fc.constant<Json>(chunk({}, 'length')),
  fc.constant<Json>(chunk({ content: 'last' }, 'stop')),
  fc.constant<Json>({ ...HEAD, choices: [], usage: USAGE }),
  fc.constant<Json>({ error: { message: 'broken', code: 503 } }),
);
const dressed = fc.oneof(
  { weight: 10, arbitrary: event.map(frame) },
  event.map((data) => `data:${JSON.stringify(data)}\n\n`),
  event.map((data) => `event: message\nid: 7\ndata: ${JSON.stringify(data)}\n\n`),
  event.map((data) => frame(JSON.stringify(data, null, 1).replaceAll('\n', '\ndata: '))),
  event.map((data) => frame(data).replaceAll('\n', '\r\n')),
  event.map((data) => frame(data).replaceAll('\n', '\r')),
  fc.constantFrom(': ping\n\n', ':\n', 'INFO: what\n', 'data: {broken\n\n', '\n', 'data: 5\n\n', 'data: [1]\n\n'),
);
export const streams = fc
  .tuple(
    fc.array(dressed, { maxLength: 12 }),
    fc.constantFrom('', 'data: [DONE]\n\n', 'data: [DONE]', frame(chunk({}, 'stop'))),
  )
  .map(([events, end]) => events.join('') + end);

/** The same without ids and times that were made up, since the upstream gave none: they differ each time. */
export function withoutOwn(seen: Json): Json {
  return {
    ...seen,
    id: String(seen['id']).startsWith('chatcmpl-') ? 'own' : seen['id'],
    created: seen['created'] === HEAD.created ? HEAD.created : 'now',
    choices: JSON.parse(
      JSON.stringify(seen['choices'])
        .replaceAll(/(?:call|audio)_[A-Za-z0-9]{24}/g, 'own')
        .replaceAll(/"expires_at":\d+/g, '"expires_at":0'),
    ),
  };
}
