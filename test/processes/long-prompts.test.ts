import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startSluiceProcess } from '../support/sluice-process.ts';
import { begin, type Json } from '../support/wire-answers.ts';

// A long prompt is needed until the answer has begun: from then on nothing can be tried again, and the answer may take minutes.

const MEGABYTE = 1024 * 1024;
const STREAMS = 20;

const GEMINI = '/v1beta/models/m:streamGenerateContent?alt=sse';

const answer = () => ({ text: ['one', ' two'], stallAfter: 1 });
const STARTS = {
  openai: () => startOpenAiUpstream(answer),
  anthropic: () => startAnthropicUpstream(answer),
  google: () => startGeminiUpstream(answer),
};

/** A million characters, all texts different, so that nothing of them can be shared. */
function prompt(index: number): string {
  return `${index} question `.repeat(MEGABYTE / 12).slice(0, MEGABYTE);
}

describe('prompts of running streams', { timeout: 480_000 }, () => {
  for (const [title, path, more, kind, length = MEGABYTE] of [
    ['passed on as they are', '/v1/chat/completions', {}],
    ['passed on without being read', '/v1/chat/completions', {}, 'openai', 900_000],
    ['passed on with changes', '/v1/chat/completions', { model: 'mock/m', stream_options: { include_usage: true } }],
    ['decoded', '/v1/chat/completions', { memory: true, user: 'me' }],
    ['of a conversation', '/backend-api/v2/conversation', {}],
    ['of a conversation that gets a title', '/backend-api/v2/conversation', { title: true }],
    ['of Anthropic messages', '/v1/messages', { max_tokens: 100 }],
    ['of Anthropic messages, to Anthropic', '/v1/messages', { max_tokens: 100 }, 'anthropic'],
    ['of the Responses API, not to be stored', '/v1/responses', { store: false }],
    ['of Ollama', '/api/chat', {}],
    ['of Gemini', GEMINI, {}],
    ['of Gemini, to Google', GEMINI, {}, 'google'],
  ] satisfies [string, string, Json, Kind?, number?][]) {
    test(title, async (context) => {
      const upstream = await STARTS[kind ?? 'openai']();
      context.after(() => upstream.close());
      const sluice = await startSluiceProcess(context, upstream, kind);
      const ask = async (content: string) => {
        const client = begin(sluice.origin, path, { provider: 'mock', model: 'm', ...asked(path, content), ...more });
        await once(await client.response, 'data');
        return client;
      };
      const warm = await Promise.all(Array.from({ length: STREAMS }, () => ask('short')));
      const before = await sluice.collect();
      for (const client of warm) client.leave();
      const clients = await Promise.all(
        Array.from({ length: STREAMS }, (_, index) => ask(prompt(index).slice(0, length))),
      );
      const growth = (await sluice.collect()) - before;
      for (const client of clients) assert.equal((await client.response).complete, false);
      context.diagnostic(`${(growth / MEGABYTE).toFixed(1)} MB more with ${STREAMS} prompts of 1 MB`);
      assert.ok(growth < (STREAMS * MEGABYTE) / 4, `${Math.round(growth / MEGABYTE)} MB of prompts are still there`);
      for (const client of clients) client.leave();
    });
  }
});

type Kind = keyof typeof STARTS;

function asked(path: string, content: string): Json {
  if (path === GEMINI) return { contents: [{ role: 'user', parts: [{ text: content }] }] };
  return {
    stream: true,
    ...(path === '/v1/responses' ? { input: content } : { messages: [{ role: 'user', content }] }),
  };
}
