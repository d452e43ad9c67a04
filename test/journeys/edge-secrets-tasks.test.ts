import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { startCanaries } from '../support/forbidden-addresses.ts';
import { silence } from '../support/listening-upstream.ts';
import { picture } from '../support/pictures.ts';
import type { Answer } from '../support/raw-http.ts';
import type { Handler } from '../support/seen-request.ts';
import { openWorld, type World } from './edge-world.ts';

/** What may go to an upstream and what may come back, in every way of asking one: chats of two dialects are not all. */

const PROVIDER_KEY = 'sk-planted-provider-key-0123456789';
const CLIENT_KEY = 'sk-planted-client-key-0123456789';
const CLIENT = 'planted-by-the-client-0123456789';
const INTERNAL = 'planted-by-the-upstream-0123456789';
const PNG = await picture('#336699');

type Fields = Readonly<Record<string, unknown>>;
const messages = [{ role: 'user', content: 'Hi' }];
const contents = [{ parts: [{ text: 'Hi' }] }];

/** A body each; one with a file goes as a form. */
const WAYS: Readonly<Record<string, readonly [path: string, fields: Fields]>> = {
  chat: ['/v1/chat/completions', { messages }],
  'a conversation': ['/backend-api/v2/conversation', { messages }],
  'a completion': ['/v1/completions', { prompt: 'Hi' }],
  embeddings: ['/v1/embeddings', { input: 'Hi' }],
  moderation: ['/v1/moderations', { input: 'Hi' }],
  reranking: ['/v1/rerank', { query: 'Hi', documents: ['a'] }],
  drawing: ['/v1/images/generations', { prompt: 'Hi', response_format: 'b64_json' }],
  editing: ['/v1/images/edits', { prompt: 'Hi', response_format: 'b64_json', image: new Blob([new Uint8Array(PNG)]) }],
  speech: ['/v1/audio/speech', { input: 'Hi', voice: 'alloy' }],
  transcription: ['/v1/audio/transcriptions', { file: new Blob([new Uint8Array(silence())]) }],
  responses: ['/v1/responses', { input: 'Hi' }],
  messages: ['/v1/messages', { messages, max_tokens: 9 }],
  'a chat of Ollama': ['/api/chat', { messages, stream: false }],
  'a completion of Ollama': ['/api/generate', { prompt: 'Hi', stream: false }],
  'embeddings of Ollama': ['/api/embed', { input: 'Hi' }],
  'a chat of Gemini': ['/v1beta/mock/models/test-model:generateContent', { contents }],
  'embeddings of Gemini': ['/v1beta/mock/models/test-model:embedContent', { content: contents[0] }],
};

const CHOICE = { index: 0, text: 'Hi', message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };

/** Good for whatever was asked. */
const ANSWER = {
  id: 'answer',
  object: 'list',
  created: 1,
  model: 'test-model',
  data: [{ object: 'embedding', index: 0, embedding: [1, 2], b64_json: PNG.toString('base64') }],
  results: [{ index: 0, relevance_score: 1, flagged: false, categories: {}, category_scores: {} }],
  choices: [CHOICE],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  text: 'Hi',
};

describe('in every way of asking', () => {
  let world: World;
  let isGood = true;
  /** Says all that it knows, in every place. */
  const answer: Handler = ({ path, headers: { authorization = '' }, body }, response) => {
    const said = `Incorrect API key provided: ${authorization}`;
    const names = ['set-cookie', 'server', 'via', 'link', 'location', 'etag', 'x-request-id', 'openai-organization'];
    const headers = {
      ...Object.fromEntries([...names, 'x-internal-host', 'content-disposition'].map((name) => [name, INTERNAL])),
      'x-echo': said,
      'x-ratelimit-remaining-requests': '7',
      'access-control-allow-origin': '*',
    };
    if (!isGood) {
      const error = { message: said, param: authorization, code: said, type: said };
      response.writeHead(400, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    } else if (path.endsWith('/speech')) {
      response.writeHead(200, { ...headers, 'content-type': 'audio/wav' }).end(silence());
    } else if ((body as Fields | undefined)?.['stream'] === true) {
      const { message: delta, ...choice } = CHOICE;
      response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ ...ANSWER, choices: [{ ...choice, delta }] })}\n\ndata: [DONE]\n\n`);
    } else {
      response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(ANSWER));
    }
  };
  before(async () => {
    world = await openWorld({
      provider: `apiKey: '${PROVIDER_KEY}', models: [test-model]`,
      yaml: 'limits: { attempts: 1 }\n',
      async handle(request, response) {
        await answer(request, response);
        return true;
      },
    });
  });
  after(() => world.close());

  /** Asks with all that a client may send besides. */
  async function send(path: string, fields: Fields, more: Fields = {}): Promise<Answer> {
    const noise = {
      cookie: `session=${CLIENT}`,
      authorization: `Bearer ${CLIENT}`,
      'x-user': CLIENT,
      'x-client-secret': CLIENT,
      'x-request-id': CLIENT,
      'openai-organization': CLIENT,
      'user-agent': CLIENT,
    };
    const all: Fields = { model: 'test-model', provider: 'mock', ...more, ...fields };
    if (!Object.values(fields).some((value) => value instanceof Blob))
      return world.ask({ path, headers: noise, body: all });
    const form = new FormData();
    for (const [name, value] of Object.entries(all)) {
      if (value instanceof Blob) form.append(name, value, 'file');
      else form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    const encoded = new Response(form);
    const headers = { ...noise, 'content-type': encoded.headers.get('content-type') ?? '' };
    return world.ask({ method: 'POST', path, headers, body: Buffer.from(await encoded.arrayBuffer()) });
  }

  function assertHidden({ headers, text }: Answer): void {
    const all = `${inspect(headers)}\n${text}\n${inspect(world.gateway.log.lines, { depth: null })}`;
    for (const secret of [PROVIDER_KEY, CLIENT_KEY, CLIENT, INTERNAL]) {
      const at = all.indexOf(secret);
      assert.equal(at, -1, all.slice(Math.max(0, at - 300), at + 300));
    }
    assert.equal(headers['access-control-allow-origin'], undefined);
  }

  for (const [name, [path, fields]] of Object.entries(WAYS)) {
    test(`${name}: headers of neither side reach the other, and no key is told`, async () => {
      for (isGood of [true, false]) {
        for (const key of [PROVIDER_KEY, CLIENT_KEY]) {
          const { length } = world.upstream.requests;
          const told = await send(path, fields, key === CLIENT_KEY ? { api_key: key } : {});
          // Where the failure of a stream is told as its event, the status has been 200.
          if (isGood) assert.equal(told.status, 200, told.text);
          else assert.match(told.text, /Incorrect API key provided: Bearer \*\*\*/);
          assertHidden(told);
          // Clients pace themselves by it, whatever they ask for.
          assert.equal(told.headers['x-ratelimit-remaining-requests'], '7');
          const [arrived, ...others] = world.upstream.requests.slice(length);
          assert.ok(arrived !== undefined && others.length === 0, `${others.length + 1} requests`);
          const sent = Object.keys(arrived.headers).filter((each) => each !== 'transfer-encoding');
          const expected = ['accept', 'authorization', 'connection', 'content-length', 'content-type', 'host'];
          assert.deepEqual(sent.sort(), expected);
          // Some formats have no place for a key of the client.
          assert.ok([PROVIDER_KEY, key].includes(arrived.headers.authorization?.replace('Bearer ', '') ?? ''));
          for (const secret of [CLIENT, CLIENT_KEY]) assert.ok(!arrived.rawBody.includes(secret), secret);
        }
      }
    });

    test(`${name}: no field says where the provider is`, async (context) => {
      const { ports, hits } = await startCanaries(context);
      const url = `http://127.0.0.1:${ports[0]}`;
      isGood = true;
      const more = {
        ...Object.fromEntries(['base_url', 'api_base', 'proxy'].map((each) => [each, url])),
        headers: { host: url },
        extra_headers: { host: url },
      };
      const { length } = world.upstream.requests;
      await send(path, fields, more);
      assert.deepEqual(hits, []);
      const arrived = world.upstream.requests.slice(length);
      for (const { rawBody, headers } of arrived) {
        assert.ok(!rawBody.includes(url), rawBody.toString());
        assert.equal(headers.host, new URL(world.upstream.origin).host);
      }
      // Formats that refuse what they do not know ask nobody.
      assert.ok(arrived.length < 2);
    });
  }
});
