import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { plainServer } from '../support/plain-server.ts';
import { ask } from '../support/raw-http.ts';

// What can be read at any depth, and written again at a few thousands only.

const LEVELS = 100_000;
const LIST = '['.repeat(LEVELS) + ']'.repeat(LEVELS);
const OBJECT = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;
const USAGE = '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}';

const events = (...data: readonly string[]): string => data.map((each) => `data: ${each}\n\n`).join('');
const delta = (said: string, finish = 'null'): string =>
  `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${said},"finish_reason":${finish}}]}`;
const message = (said: string, more = ''): string =>
  `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":${said},"finish_reason":"stop"}],${USAGE}${more}}`;
const parts = (said: string, more = ''): string =>
  `{"candidates":[{"content":{"role":"model","parts":${said}}${more}}]}`;

const ANSWERS: Readonly<Record<string, string>> = {
  whole: message('{"role":"assistant","content":"Hello"}', `,"x":${LIST}`),
  streamed: events(
    `{"choices":[{"index":0,"delta":{"content":"deep"}}],"x":${LIST}}`,
    delta('{"content":"Hello"}'),
    delta('{}', '"stop"'),
    '[DONE]',
  ),
  call: events(
    delta(
      `{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"look","arguments":${JSON.stringify(OBJECT)}}}]}`,
    ),
    delta('{}', '"tool_calls"'),
    '[DONE]',
  ),
  google: events(
    parts('[{"text":"deep"}]', `,"groundingMetadata":${OBJECT}`),
    parts('[{"text":"Hello"}]', ',"finishReason":"STOP"'),
  ),
  drawn: events(`{"type":"image_generation.completed","b64_json":"aGk=","usage":{"x":${LIST}}}`),
  vectors: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,2]}],"model":"m",${USAGE},"x":${LIST}}`,
};

describe('answers that nest deeper than anything can write', () => {
  let gateway: Gateway;
  const closing: (() => void)[] = [];
  before(async () => {
    const upstream = await plainServer({ after: (done) => void closing.push(done) }, (request, response) => {
      let asked = request.url ?? '';
      request.setEncoding('utf8').on('data', (text: string) => {
        asked += text;
      });
      request.on('end', () => {
        const name = Object.keys(ANSWERS).find((each) => asked.includes(`deep-${each}`)) ?? '';
        const answer = ANSWERS[name] ?? '';
        const type = answer.startsWith('data:') ? 'text/event-stream' : 'application/json';
        response.writeHead(200, { 'content-type': type }).end(answer);
      });
    });
    gateway = await startGateway(`providers:
  openai: { kind: openai, baseUrl: '${upstream.url}/v1', apiKey: k }
  google: { kind: google, baseUrl: '${upstream.url}', apiKey: k }
limits: { attempts: 1 }`);
  });
  after(async () => {
    await gateway.close();
    for (const done of closing) done();
  });

  const messages = [{ role: 'user', content: 'Hi' }];
  const post = async (path: string, body: object) => {
    const { status, text } = await ask(gateway.origin, { path, body });
    return { status, text: text.slice(0, 2_000) };
  };
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];

  test('a whole one is no answer', async () => {
    for (const stream of [false, true]) {
      const { status, text } = await post('/v1/chat/completions', { model: 'openai/deep-whole', messages, stream });
      assert.equal(status, 502, text);
      assert.match(text, /not a chat completion/);
    }
    const { status, text } = await post('/v1/embeddings', { model: 'openai/deep-vectors', input: 'Hi' });
    assert.equal(status, 502, text);
    assert.match(text, /not JSON/);
    const drawn = await post('/v1/images/generations', { model: 'openai/deep-drawn', prompt: 'Hi', stream: true });
    assert.match(drawn.text, /not JSON/);
  });

  test('an event of a stream is passed over as what is no event', async () => {
    for (const stream of [false, true]) {
      const { status, text } = await post('/v1/chat/completions', { model: 'openai/deep-streamed', messages, stream });
      assert.deepEqual([status, /"content":"Hello"/.test(text), /deep"|"error"/.test(text)], [200, true, false], text);
    }
    const { status, text } = await post('/v1beta/models/google/deep-google:generateContent', { contents });
    assert.deepEqual([status, /"text":"Hello"/.test(text)], [200, true], text);
  });

  test('arguments of a call are handed over as those that are none', async () => {
    const asked = { model: 'openai/deep-call', max_tokens: 9, messages };
    const { status, text } = await post('/v1/messages', asked);
    assert.deepEqual([status, /"input":\{"rawInvalidInput":/.test(text)], [200, true], text.slice(0, 500));
    const google = await post('/v1beta/models/openai/deep-call:generateContent', { contents });
    assert.deepEqual(
      [google.status, /MALFORMED_FUNCTION_CALL/.test(google.text)],
      [200, true],
      google.text.slice(0, 500),
    );
  });
});
