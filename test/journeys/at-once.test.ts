import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { ChunkStream } from '../support/openai-format.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { begin, type Json } from '../support/wire-answers.ts';

// Nothing of an answer waits for what comes behind it (L-4): the upstream goes on only when its last word was heard.

const WORDS = ['first', 'second', 'third', 'fourth', 'fifth'];
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const STREAM = { model: 'm', messages: MESSAGES, stream: true };

const WAYS: readonly (readonly [way: string, path: string, body?: Json])[] = [
  ['chat completions, passed on as they are', '/v1/chat/completions', STREAM],
  ['chat completions, decoded', '/v1/chat/completions', { ...STREAM, memory: true, user: 'me' }],
  ['completions', '/v1/completions', { model: 'm', prompt: 'Hi', stream: true }],
  ['a conversation', '/backend-api/v2/conversation', { ...STREAM, provider: 'mock' }],
  ['a conversation that can be read again', '/backend-api/v2/conversation', { ...STREAM, resumable: true }],
  ['plain text', '/backend-api/v2/create?prompt=Hi&provider=mock'],
  ['Responses', '/v1/responses', { model: 'm', input: 'Hi', stream: true }],
  ['Messages', '/v1/messages', { ...STREAM, max_tokens: 100 }],
  ['Gemini', '/v1beta/models/m:streamGenerateContent?alt=sse', { contents: [{ parts: [{ text: 'Hi' }] }] }],
  ['Ollama', '/api/chat', STREAM],
];

describe('each word reaches the client before the next is said', { concurrency: 4, timeout: 60_000 }, () => {
  for (const [way, path, body] of WAYS) {
    test(way, { timeout: 60_000 }, async (context) => {
      const heard = WORDS.map(() => Promise.withResolvers<void>());
      const upstream = await startOpenAiUpstream(undefined, {
        models: ['m'],
        handle: async (request, response) => {
          if (request.method !== 'POST') return false;
          const stream = new ChunkStream({}, request);
          const say = (event: object): boolean => response.write(`data: ${JSON.stringify(event)}\n\n`);
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          say(stream.start());
          for (const [index, word] of WORDS.entries()) {
            say(stream.piece({ kind: 'text', text: `${word} ` }));
            await heard[index]?.promise;
          }
          for (const event of stream.end()) say(event);
          response.end('data: [DONE]\n\n');
          return true;
        },
      });
      context.after(() => upstream.close());
      const gateway = await startGateway(`providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`);
      context.after(() => gateway.close());

      const response = await begin(gateway.origin, path, body).response;
      assert.equal(response.statusCode, 200);
      let text = '';
      for await (const bytes of response) {
        text += bytes;
        for (const [index, word] of WORDS.entries()) if (text.includes(word)) heard[index]?.resolve();
      }
      assert.deepEqual(text.match(new RegExp(WORDS.join('|'), 'g'))?.slice(0, WORDS.length), WORDS);
    });
  }
});
