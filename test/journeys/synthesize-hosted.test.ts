import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { plainServer } from '../support/plain-server.ts';

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** Settles when the connection of the answer is over. */
  readonly closed: Promise<unknown>;
}

type Answer = (request: Seen, response: ServerResponse) => void;

interface World {
  readonly gateway: Gateway;
  readonly seen: Seen[];
  say(query: Readonly<Record<string, string>>, headers?: Record<string, string>): Promise<Response>;
}

const AUDIO = Buffer.from('not really audio, which nobody looks into');

const speaks =
  (type: string | undefined, audio: Buffer | '' = AUDIO): Answer =>
  (_request, response) => {
    response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(audio);
  };

/** What it was never asked for: a piece of its answer. */
const speaksInPart: Answer = (_request, response) => {
  response.writeHead(206, { 'content-type': 'audio/mpeg', 'content-range': 'bytes 0-39/4000' }).end(AUDIO);
};

const fails =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    const isText = typeof body === 'string';
    response
      .writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
      .end(isText ? body : JSON.stringify(body));
  };

/** A gateway whose provider `voice` is at a scripted upstream. */
async function openWorld(context: TestContext, kind: string, answer: Answer, fields = 'apiKey: key-of-the-operator') {
  const seen: Seen[] = [];
  const { url } = await plainServer(context, async (request: IncomingMessage, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const { method = '', url: path = '', headers } = request;
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    const one = { method, path, headers, body, closed: once(response, 'close') };
    seen.push(one);
    answer(one, response);
  });
  const id = kind === 'openai' ? 'acme' : kind;
  const entry = kind === 'openai' ? `kind: openai, baseUrl: "${url}/v1", label: Acme` : `baseUrl: "${url}"`;
  const gateway = await startGateway(`providers: { ${id}: { ${entry}, ${fields} } }`);
  context.after(() => gateway.close());
  const world: World = {
    gateway,
    seen,
    say: (query, headers = {}) =>
      fetch(`${gateway.origin}/backend-api/v2/synthesize/${id}?${new URLSearchParams(query)}`, { headers }),
  };
  return world;
}

async function failureOf(response: Response) {
  const { error } = (await response.json()) as { error: { message: string; code: string } };
  return { status: response.status, code: error.code, message: error.message };
}

const ASKED = { text: 'Hello there.', model: 'tts-1' };

describe('an upstream with OpenAI’s /audio/speech', () => {
  test('gets the format under either of its names', async (context) => {
    const world = await openWorld(context, 'openai', speaks('audio/wav'));
    for (const query of [{ format: 'wav' }, { response_format: 'wav' }, { format: 'wav', response_format: 'mp3' }]) {
      assert.equal((await world.say({ ...ASKED, ...query })).status, 200);
      assert.equal((world.seen.at(-1)?.body as { response_format?: string } | undefined)?.response_format, 'wav');
    }
  });

  test('gets what was asked, with the operator’s key, and its bytes come back', async (context) => {
    const world = await openWorld(context, 'openai', speaks('audio/flac'));
    const query = { ...ASKED, voice: 'nova', format: 'flac', speed: '1.5', language: 'de', instructions: 'whisper' };
    const response = await world.say({ ...query, base_url: 'http://127.0.0.1:1', stream_format: 'sse', api_key: 'x' });
    assert.equal(response.headers.get('content-type'), 'audio/flac');
    assert.equal(response.headers.get('cache-control'), 'private, max-age=604800');
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), AUDIO);
    const [request] = world.seen;
    assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/audio/speech');
    assert.equal(request?.headers.authorization, 'Bearer key-of-the-operator');
    assert.deepEqual(request?.body, {
      input: 'Hello there.',
      model: 'tts-1',
      voice: 'nova',
      response_format: 'flac',
      speed: 1.5,
      language: 'de',
      instructions: 'whisper',
    });
  });

  test('a voice that the user made goes by its id', async (context) => {
    const world = await openWorld(context, 'openai', speaks('audio/mpeg'));
    for (const voice of [{ id: 'voice_1234' }, 'nova']) {
      const response = await fetch(`${world.gateway.origin}/v1/audio/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'acme/tts-1', input: 'Hello \ud800there.', voice, language: 'de' }),
      });
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), AUDIO);
      assert.partialDeepStrictEqual(world.seen.at(-1)?.body, { input: 'Hello \ufffdthere.', voice, language: 'de' });
    }
  });

  test('its first model that speaks is taken when none is named', async (context) => {
    const world = await openWorld(context, 'openai', (request, response) => {
      if (request.method === 'POST') speaks('audio/mpeg')(request, response);
      else
        fails(200, { data: ['gpt-4o', 'gpt-4o-realtime', 'tts-1-hd', 'tts-1'].map((id) => ({ id })) })(
          request,
          response,
        );
    });
    assert.equal((await world.say({ text: 'Hello.' })).status, 200);
    assert.equal((await world.say({ text: 'Hello.' })).status, 200);
    const spoken = world.seen.filter(({ method }) => method === 'POST');
    assert.deepEqual(
      spoken.map(({ body }) => [body['model'], body['voice'], body['response_format']]),
      [
        ['tts-1-hd', 'alloy', 'mp3'],
        ['tts-1-hd', 'alloy', 'mp3'],
      ],
    );
  });

  test('bytes arrive while it is still sending', async (context) => {
    let upstream: ServerResponse | undefined;
    const world = await openWorld(context, 'openai', (_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('first');
      upstream = response;
    });
    const reader = (await world.say(ASKED)).body?.getReader();
    assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first');
    upstream?.end('second');
    assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'second');
    assert.equal((await reader?.read())?.done, true);
  });

  test('when the client leaves, it is left too', async (context) => {
    const world = await openWorld(context, 'openai', (_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('first');
    });
    const response = await world.say(ASKED);
    await response.body?.cancel();
    await world.seen[0]?.closed;
  });

  test('when the client leaves before the first byte, too', async (context) => {
    let arrived: () => void = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const world = await openWorld(context, 'openai', () => arrived());
    const request = get(`${world.gateway.origin}/backend-api/v2/synthesize/acme?text=a&model=m`);
    request.on('error', () => {});
    await arrival;
    request.destroy();
    await world.seen[0]?.closed;
  });

  test('when it breaks off, so does the answer', async (context) => {
    const world = await openWorld(context, 'openai', (_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('first', () => response.destroy());
    });
    const response = await world.say(ASKED);
    assert.equal(response.status, 200);
    await assert.rejects(response.arrayBuffer());
    assert.ok(world.gateway.log.lines.some(({ message }) => message === 'an answer failed after it had begun'));
  });

  for (const [name, answer, status, code, said] of [
    ['its own words', fails(400, { error: { message: 'Invalid voice.' } }), 400, 'invalid_request', /Invalid voice\./],
    ['a model it lacks', fails(404, { error: { message: 'no such model' } }), 404, 'model_not_found', /no such model/],
    ['no such path', fails(404, '404 page not found'), 501, 'not_supported', /does not read texts aloud/],
    ['no such path, as JSON', fails(404, { detail: 'Not Found' }), 501, 'not_supported', /does not read texts/],
    ['no such method', fails(405, ''), 501, 'not_supported', /does not read texts aloud/],
    ['a wrong key', fails(401, { error: { message: 'wrong key' } }), 401, 'missing_credentials', /wrong key/],
    ['too many', fails(429, { error: { message: 'slow down' } }, { 'retry-after': '7' }), 429, 'rate_limited', /slow/],
    ['its failure', fails(500, 'oops'), 502, 'upstream_failed', /500/],
    ['JSON where audio belongs', fails(200, { error: 'Unexpected endpoint' }), 502, 'upstream_invalid', /json/],
    ['a page', speaks('text/html'), 502, 'upstream_invalid', /text\/html/],
    ['a part of the audio', speaksInPart, 502, 'upstream_invalid', /206/],
    ['nothing at all', speaks('audio/mpeg', ''), 502, 'upstream_invalid', /without any audio/],
    ['a redirect', fails(302, '', { location: 'http://127.0.0.1:1/' }), 502, 'upstream_invalid', /redirects/],
  ] as const) {
    test(`${name}: ${status} ${code}`, async (context) => {
      const world = await openWorld(context, 'openai', answer);
      const response = await world.say(ASKED);
      const failure = await failureOf(response);
      assert.deepEqual({ status: failure.status, code: failure.code }, { status, code });
      assert.match(failure.message, said);
      if (status === 429) assert.equal(response.headers.get('retry-after'), '7');
      assert.equal(response.headers.get('cache-control'), 'no-store');
    });
  }

  test('what is no audio is not waited for', { timeout: 30_000 }, async (context) => {
    const world = await openWorld(context, 'openai', endlessJson);
    assert.equal((await world.say(ASKED)).status, 502);
    await world.seen[0]?.closed;
  });

  test('silence ends in 504', async (context) => {
    const { url } = await plainServer(context, (request) => request.resume());
    const gateway = await startGateway(
      `providers: { acme: { kind: openai, baseUrl: "${url}/v1" } }\nlimits: { firstByteMs: 200 }`,
    );
    context.after(() => gateway.close());
    const response = await fetch(`${gateway.origin}/backend-api/v2/synthesize/acme?text=a&model=m`);
    assert.deepEqual((await failureOf(response)).code, 'upstream_timeout');
    assert.equal(response.status, 504);
  });

  test('one that does not speak is not asked for its key first', async (context) => {
    const gateway = await startGateway('providers: { acme: { kind: anthropic } }');
    context.after(() => gateway.close());
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(`${gateway.origin}/backend-api/v2/synthesize/acme?text=a`, { method });
      assert.equal(response.status, 501, method);
    }
  });

  test('a type without parameters or none at all is completed', async (context) => {
    const world = await openWorld(context, 'openai', speaks(undefined));
    assert.equal((await world.say({ ...ASKED, format: 'opus' })).headers.get('content-type'), 'audio/ogg; codecs=opus');
    const strange = await openWorld(context, 'openai', speaks('audio/x; a="b\\"c"; d=e'));
    assert.equal((await strange.say(ASKED)).status, 502);
  });
});

const endlessJson: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{');
};

/** What each vendor gets for the same question, and what it must find there. */
const VENDORS = [
  {
    kind: 'elevenlabs',
    query: { voice: 'abc123', seed: '7', stability: '0.5', useSpeakerBoost: 'true' },
    path: '/v1/text-to-speech/abc123?output_format=mp3_44100_128',
    header: ['xi-api-key', 'key-of-the-operator'],
    body: {
      text: 'Hello there.',
      model_id: 'eleven_multilingual_v2',
      seed: 7,
      voice_settings: { speed: 1.5, stability: 0.5, use_speaker_boost: true },
    },
    failure: { detail: { status: 'voice_not_found', message: 'A voice was not found.' } },
  },
  {
    kind: 'deepgram',
    query: { voice: 'thalia', language: 'en', callback: 'http://127.0.0.1:1/' },
    path: '/v1/speak?model=aura-2-thalia-en&encoding=mp3&speed=1.5',
    header: ['authorization', 'Token key-of-the-operator'],
    body: { text: 'Hello there.' },
    failure: { err_code: 'INVALID', err_msg: 'A voice was not found.' },
  },
  {
    kind: 'lmnt',
    query: { voice: 'ava', seed: '7' },
    path: '/v1/ai/speech/bytes',
    header: ['x-api-key', 'key-of-the-operator'],
    body: { text: 'Hello there.', model: 'blizzard', voice: 'ava', response_format: 'mp3', speed: 1.5, seed: 7 },
    failure: { error: { message: 'A voice was not found.', code: 1 } },
  },
  {
    kind: 'hume',
    query: { voice: 'd8ab67c6-953d-4bd8-9370-8fa53a0f1453', instructions: 'whisper' },
    path: '/v0/tts/file',
    header: ['x-hume-api-key', 'key-of-the-operator'],
    body: {
      format: { type: 'mp3' },
      utterances: [
        {
          text: 'Hello there.',
          speed: 1.5,
          description: 'whisper',
          voice: { id: 'd8ab67c6-953d-4bd8-9370-8fa53a0f1453', provider: 'HUME_AI' },
        },
      ],
    },
    failure: { message: 'A voice was not found.' },
  },
] as const;

for (const { kind, query, path, header, body, failure } of VENDORS) {
  describe(kind, () => {
    test('gets what was asked, with the operator’s key, and its bytes come back', async (context) => {
      const world = await openWorld(context, kind, speaks('audio/mpeg'));
      const response = await world.say({ text: 'Hello there.', speed: '1.5', ...query });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'audio/mpeg');
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), AUDIO);
      const [request] = world.seen;
      assert.equal(request?.path, path);
      assert.equal(request?.headers[header[0]], header[1]);
      const { voice_settings: settings, ...sent } = request?.body ?? {};
      const { voice_settings: expected, ...rest } = body as Record<string, unknown>;
      assert.deepEqual(settings, expected);
      for (const [name, value] of Object.entries(rest)) assert.deepEqual(sent[name], value, name);
      assert.doesNotMatch(JSON.stringify(sent), /127\.0\.0\.1/);
    });

    test('several keys take turns', async (context) => {
      const world = await openWorld(context, kind, speaks('audio/mpeg'), 'apiKeys: [key-number-1, key-number-2]');
      for (let count = 0; count < 3; count += 1) await (await world.say({ text: 'Hello there.' })).arrayBuffer();
      assert.deepEqual(
        world.seen.map(({ headers }) => headers[header[0]]),
        ['key-number-1', 'key-number-2', 'key-number-1'].map((key) => header[1].replace('key-of-the-operator', key)),
      );
    });

    test('needs no voice', async (context) => {
      const world = await openWorld(context, kind, speaks('audio/mpeg'));
      assert.equal((await world.say({ text: 'Hello there.' })).status, 200);
    });

    test('bytes arrive while it is still sending; leaving the one leaves the other', async (context) => {
      const world = await openWorld(context, kind, (_request, response) => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('first');
      });
      const response = await world.say({ text: 'Hello there.' });
      const reader = response.body?.getReader();
      assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first');
      await reader?.cancel();
      await world.seen[0]?.closed;
    });

    test('its refusal comes in its own words, without the key', async (context) => {
      const text = JSON.stringify(failure).replace('A voice', 'With key-of-the-operator a voice');
      const world = await openWorld(context, kind, fails(400, JSON.parse(text)));
      const answer = await failureOf(await world.say({ text: 'Hello there.' }));
      assert.deepEqual({ status: answer.status, code: answer.code }, { status: 400, code: 'invalid_request' });
      assert.match(answer.message, /a voice was not found\./);
      assert.doesNotMatch(answer.message, /key-of-the-operator/);
    });

    for (const [name, answer, status, code] of [
      ['a wrong key', fails(401, { message: 'no' }), 401, 'missing_credentials'],
      ['its failure', fails(500, 'oops'), 502, 'upstream_failed'],
      ['JSON where audio belongs', fails(200, {}), 502, 'upstream_invalid'],
      ['a part of the audio', speaksInPart, 502, 'upstream_invalid'],
      ['a redirect', fails(307, '', { location: 'http://127.0.0.1:1/' }), 502, 'upstream_invalid'],
    ] as const) {
      test(`${name}: ${status} ${code}`, async (context) => {
        const world = await openWorld(context, kind, answer);
        const found = await failureOf(await world.say({ text: 'Hello there.' }));
        assert.deepEqual({ status: found.status, code: found.code }, { status, code });
      });
    }

    test('what is no audio is not waited for', { timeout: 30_000 }, async (context) => {
      const world = await openWorld(context, kind, endlessJson);
      assert.equal((await world.say({ text: 'Hello there.' })).status, 502);
      await world.seen[0]?.closed;
    });

    test('a format it does not know, a voice or a model that is a path', async (context) => {
      const world = await openWorld(context, kind, speaks('audio/mpeg'));
      assert.equal((await world.say({ text: 'a', format: 'ogg' })).status, 501);
      assert.equal((await world.say({ text: 'a', voice: '../../v1/user' })).status, 400);
      assert.equal((await world.say({ text: 'a', model: 'a/../b' })).status, 404);
      assert.equal(world.seen.length, 0);
    });

    test('a client may bring a key of its own', async (context) => {
      const world = await openWorld(context, kind, speaks('audio/mpeg'), 'label: Voice');
      const without = await failureOf(await world.say({ text: 'a' }));
      assert.deepEqual({ status: without.status, code: without.code }, { status: 401, code: 'missing_credentials' });
      assert.equal((await world.say({ text: 'a' }, { 'x-api-key': 'key-of-a-client' })).status, 200);
      assert.match(String(world.seen[0]?.headers[header[0]]), /key-of-a-client/);
    });
  });
}

test('vendors that only speak are switched on by their keys, and no chat meets them', async (context) => {
  const environment = { ELEVENLABS_API_KEY: 'a1', DEEPGRAM_API_KEY: 'b2', LMNT_API_KEY: 'c3', HUME_API_KEY: 'd4' };
  const gateway = await startGateway('', { environment });
  context.after(() => gateway.close());
  const base = `${gateway.origin}/backend-api/v2`;
  const providers = (await (await fetch(`${base}/providers`)).json()) as Record<string, unknown>[];
  const on = providers.filter((each) => each['active_by_default'] === true);
  assert.deepEqual(on.map(({ name }) => name).sort(), ['deepgram', 'elevenlabs', 'hume', 'lmnt']);
  assert.ok(on.every(({ audio }) => typeof audio === 'number' && audio > 0));
  const chat = await fetch(`${gateway.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'x' }] }),
  });
  assert.equal(chat.status, 404);
});
