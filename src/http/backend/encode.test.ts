import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Chunk } from '../../core/chunk.ts';
import type { ErrorInfo } from '../../core/errors.ts';
import type { Provider } from '../../core/provider.ts';
import { asidesOf } from './asides.ts';
import { TypedStream } from './encode.ts';

const failed: ErrorInfo = { code: 'internal', name: 'InternalError', message: 'It failed.' };

/** One chunk of each type, in the order of an answer. */
const chunks: { readonly [Type in Chunk['type']]: Extract<Chunk, { type: Type }> } = {
  provider: { type: 'provider', provider: { id: 'p', label: 'P', url: null, model: 'm' } },
  parameters: { type: 'parameters', parameters: { seed: 1 } },
  conversation: { type: 'conversation', conversation: { p: {} } },
  search: { type: 'search', search: { query: 'q', isUsed: true } },
  item: { type: 'item', item: { event: {}, isWork: false } },
  preview: { type: 'preview', preview: 'Drawing' },
  reasoning: { type: 'reasoning', reasoning: 'Hm.' },
  content: { type: 'content', content: 'Hi' },
  refusal: { type: 'refusal', refusal: 'No.' },
  media: { type: 'media', media: { kind: 'image', url: 'https://a.example/b.png' } },
  source: { type: 'source', source: { url: 'https://a.example/' } },
  tool_call: { type: 'tool_call', tool_call: { index: 0, id: 'call_1', name: 'f', arguments: '{}' } },
  suggestions: { type: 'suggestions', suggestions: ['Why?'] },
  title: { type: 'title', title: 'T' },
  log: { type: 'log', log: 'Searched.' },
  usage: { type: 'usage', usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 } },
  finish: { type: 'finish', finish: 'length' },
  error: { type: 'error', error: failed },
  auth: { type: 'auth', auth: failed },
};

test('the guide has a row for each type of event, with its members', () => {
  const provider: Provider = { id: 'p', label: 'P', origin: 'file', auth: { kind: 'none' }, models: async () => [] };
  const headers = { 'x-ratelimit-limit-requests': '1' };
  const asides = asidesOf({ target: { provider, model: 'm' }, headers, request: {}, title: 'T' });
  const events = new TypedStream('lines', asides)
    .encode(Object.values(chunks))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly type: string });
  const guide = readFileSync(new URL('../../../docs/web-backend.md', import.meta.url), 'utf8');
  const rows = new Map(
    [...guide.matchAll(/^\| `(\w+)` \| (.*) \| .* \|$/gm)].map(([, type, members]) => [type, members]),
  );
  assert.deepEqual([...rows.keys()].sort(), [...new Set(events.map(({ type }) => type))].sort());
  for (const { type, ...members } of events) {
    const told = type === 'auth' ? rows.get('error') : rows.get(type);
    for (const name of Object.keys(members))
      assert.ok(told?.includes(`\`${name}\``) || name === type, `${type}: ${name}`);
  }
});
