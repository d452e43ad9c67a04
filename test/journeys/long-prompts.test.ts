import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startSluiceProcess } from '../support/sluice-process.ts';
import { begin, eventually, type Json } from '../support/wire-answers.ts';

// A long prompt is needed until the answer has begun: from then on nothing can be tried again, and the answer may take minutes.

const MEGABYTE = 1024 * 1024;
const STREAMS = 20;

/** A million characters, all texts different, so that nothing of them can be shared. */
function prompt(index: number): string {
  return `${index} question `.repeat(MEGABYTE / 12).slice(0, MEGABYTE);
}

describe('prompts of running streams', { timeout: 120_000 }, () => {
  for (const [title, path, more] of [
    ['passed on as they are', '/v1/chat/completions', {}],
    ['passed on with changes', '/v1/chat/completions', { model: 'mock/m', stream_options: { include_usage: true } }],
    ['decoded', '/v1/chat/completions', { memory: true, user: 'me' }],
    ['of a conversation', '/backend-api/v2/conversation', {}],
    ['of a conversation that gets a title', '/backend-api/v2/conversation', { title: true }],
    ['of Anthropic messages', '/v1/messages', { max_tokens: 100 }],
    ['of the Responses API, not to be stored', '/v1/responses', { store: false }],
    ['of Ollama', '/api/chat', {}],
  ] satisfies [string, string, Json][]) {
    test(title, async (context) => {
      const upstream = await startOpenAiUpstream(() => ({ text: ['one', ' two'], stallAfter: 1 }));
      context.after(() => upstream.close());
      const sluice = await startSluiceProcess(context, upstream);
      const ask = async (content: string) => {
        const asked = path === '/v1/responses' ? { input: content } : { messages: [{ role: 'user', content }] };
        const body = { provider: 'mock', model: 'm', stream: true, ...asked, ...more };
        const client = begin(sluice.origin, path, body);
        await once(await client.response, 'data');
        return client;
      };
      const warm = await Promise.all(Array.from({ length: STREAMS }, () => ask('short')));
      const before = await sluice.collect();
      for (const client of warm) client.leave();
      await eventually('the first have left', () => upstream.open === 0);
      const clients = await Promise.all(Array.from({ length: STREAMS }, (_, index) => ask(prompt(index))));
      assert.equal(upstream.open, STREAMS);
      const growth = (await sluice.collect()) - before;
      context.diagnostic(`${(growth / MEGABYTE).toFixed(1)} MB more with ${STREAMS} prompts of 1 MB`);
      assert.ok(growth < (STREAMS * MEGABYTE) / 4, `${Math.round(growth / MEGABYTE)} MB of prompts are still there`);
      for (const client of clients) client.leave();
    });
  }
});
