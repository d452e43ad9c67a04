import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { silence } from '../support/listening-upstream.ts';
import { type ScriptedServer, type ServerScript, startScriptedServer } from '../support/scripted-server.ts';

const WAV = silence();
const KEY = 'key-of-the-vendor';

async function withVendor(
  kind: string,
  script: ServerScript,
  run: (client: OpenAI, server: ScriptedServer, origin: string) => Promise<void>,
  keys = `apiKey: ${KEY}`,
): Promise<void> {
  const server = await startScriptedServer(script);
  const gateway = await startGateway(`
providers:
  ${kind}: { baseUrl: '${server.origin}', ${keys} }
limits: { attempts: 1 }
`);
  try {
    const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
    await run(client, server, gateway.origin);
  } finally {
    await gateway.close();
    await server.close();
  }
}

const file = () => toFile(WAV, 'a.wav');

/** As Deepgram answers with `smart_format`. */
const DEEPGRAM = {
  metadata: { request_id: 'a', duration: 2.5, channels: 1 },
  results: {
    channels: [
      {
        detected_language: 'en',
        alternatives: [
          {
            transcript: 'Hello there. It is late.',
            confidence: 0.99,
            words: [
              { word: 'hello', start: 0.1, end: 0.4, confidence: 0.9, punctuated_word: 'Hello' },
              { word: 'there', start: 0.4, end: 0.8, confidence: 0.9, punctuated_word: 'there.' },
              { word: 'it', start: 1.2, end: 1.3, confidence: 0.9, punctuated_word: 'It' },
            ],
            paragraphs: {
              transcript: '\nHello there. It is late.',
              paragraphs: [
                {
                  start: 0.1,
                  end: 2.2,
                  sentences: [
                    { text: 'Hello there.', start: 0.1, end: 0.8 },
                    { text: 'It is late.', start: 1.2, end: 2.2 },
                  ],
                },
              ],
            },
          },
        ],
      },
    ],
  },
};

describe('Deepgram', () => {
  test('its sentences and words, with the official client', () =>
    withVendor(
      'deepgram',
      () => ({ body: DEEPGRAM }),
      async (client, { requests }) => {
        const answer = await client.audio.transcriptions.create({
          model: 'deepgram',
          file: await file(),
          response_format: 'verbose_json',
          timestamp_granularities: ['segment', 'word'],
        });
        assert.partialDeepStrictEqual(answer, { text: 'Hello there. It is late.', language: 'en', duration: 2.5 });
        assert.deepEqual(
          answer.segments?.map(({ text, start }) => [text, start]),
          [
            ['Hello there.', 0.1],
            ['It is late.', 1.2],
          ],
        );
        assert.deepEqual(answer.words?.[1], { word: 'there.', start: 0.4, end: 0.8 });
        const [request] = requests;
        assert.equal(request?.path, '/v1/listen');
        assert.equal(request?.query.get('model'), 'nova-3');
        assert.equal(request?.query.get('detect_language'), 'true');
        assert.equal(request?.query.get('smart_format'), 'true');
        assert.equal(request?.headers.authorization, `Token ${KEY}`);
        assert.equal(request?.headers['content-type'], 'audio/wav');
        assert.ok(request?.bytes.equals(WAV));
      },
    ));

  test('what it has no place for is told, a callback above all', () =>
    withVendor(
      'deepgram',
      () => ({ body: DEEPGRAM }),
      async (_client, { requests }, origin) => {
        const form = new FormData();
        form.append('file', new Blob([new Uint8Array(WAV)]), 'a.wav');
        const fields = {
          prompt: 'x',
          temperature: '0',
          language: 'de',
          diarize: 'true',
          callback: 'http://evil.example',
        };
        for (const [name, value] of Object.entries(fields)) form.append(name, value);
        const response = await fetch(`${origin}/api/deepgram/audio/transcriptions`, { method: 'POST', body: form });
        assert.equal(response.status, 200);
        assert.equal(response.headers.get('x-sluice-dropped'), 'prompt, temperature, callback');
        const { query } = requests[0] ?? {};
        assert.deepEqual([query?.get('language'), query?.get('diarize'), query?.get('callback')], ['de', 'true', null]);
      },
    ));

  test('its errors', () =>
    withVendor(
      'deepgram',
      () => ({ status: 400, body: { err_code: 'Bad Request', err_msg: 'corrupt or unsupported data' } }),
      async (client) => {
        await assert.rejects(client.audio.transcriptions.create({ model: 'deepgram', file: await file() }), {
          status: 400,
          message: /corrupt or unsupported data/,
        });
      },
    ));

  test('it does not translate', () =>
    withVendor(
      'deepgram',
      () => ({ body: DEEPGRAM }),
      async (client) => {
        await assert.rejects(client.audio.translations.create({ model: 'deepgram', file: await file() }), {
          status: 501,
        });
      },
    ));
});

describe('ElevenLabs', () => {
  const answer = {
    language_code: 'eng',
    language_probability: 0.98,
    text: 'Good night (laughs)',
    words: [
      { text: 'Good', start: 0, end: 0.4, type: 'word' },
      { text: ' ', start: 0.4, end: 0.5, type: 'spacing' },
      { text: 'night', start: 0.5, end: 0.9, type: 'word' },
    ],
  };

  test('its words become subtitles', () =>
    withVendor(
      'elevenlabs',
      () => ({ body: answer }),
      async (client, { requests }) => {
        const asked = { model: 'scribe_v1', file: await file(), response_format: 'srt', language: 'en' } as const;
        const subtitles = await client.audio.transcriptions.create(asked);
        assert.equal(subtitles, '1\n00:00:00,000 --> 00:00:00,900\nGood night\n\n');
        const [request] = requests;
        assert.equal(request?.path, '/v1/speech-to-text');
        assert.equal(request?.headers['xi-api-key'], KEY);
        const type = request?.headers['content-type'] ?? '';
        const form = await new Response(new Uint8Array(request?.bytes ?? []), {
          headers: { 'content-type': type },
        }).formData();
        assert.deepEqual([form.get('model_id'), form.get('language_code')], ['scribe_v1', 'en']);
        assert.ok(Buffer.from(await (form.get('file') as File).arrayBuffer()).equals(WAV));
      },
    ));

  test('its errors', () =>
    withVendor(
      'elevenlabs',
      () => ({ status: 401, body: { detail: { status: 'invalid_api_key', message: `Invalid API key ${KEY}` } } }),
      async (client) => {
        await assert.rejects(
          client.audio.transcriptions.create({ model: 'scribe_v1', file: await file() }),
          (error) => {
            assert.ok(error instanceof OpenAI.AuthenticationError);
            assert.match(error.message, /Invalid API key/);
            assert.doesNotMatch(error.message, new RegExp(KEY));
            return true;
          },
        );
      },
    ));
});

test('an answer without end is not taken in', { timeout: 60_000 }, () =>
  withVendor(
    'elevenlabs',
    (_request, response) => {
      const piece = Buffer.alloc(1024 * 1024, ' ');
      response.writeHead(200, { 'content-type': 'application/json' });
      Readable.from(Array(200).fill(piece)).pipe(response);
      return undefined;
    },
    async (client, { requests }) => {
      await assert.rejects(client.audio.transcriptions.create({ model: 'scribe_v1', file: await file() }), {
        status: 502,
        message: /more than 67108864 bytes/,
      });
      assert.equal(await requests[0]?.closed, 'aborted');
    },
  ),
);

describe('AssemblyAI', () => {
  const done = {
    id: 't-1',
    status: 'completed',
    text: 'One two three.',
    language_code: 'en_us',
    audio_duration: 4,
    words: [
      { text: 'One', start: 100, end: 400, confidence: 0.9 },
      { text: 'two', start: 500, end: 900, confidence: 0.9 },
      { text: 'three.', start: 1_000, end: 1_500, confidence: 0.9 },
    ],
  };
  const script =
    (last: unknown): ServerScript =>
    ({ path }) => {
      if (path === '/v2/upload') return { body: { upload_url: 'https://cdn.assemblyai.com/upload/1' } };
      return path === '/v2/transcript' ? { body: { id: 't-1', status: 'queued' } } : { body: last };
    };

  test('upload, order, and the transcript', () =>
    withVendor('assemblyai', script(done), async (client, { requests }) => {
      const answer = await client.audio.transcriptions.create({
        model: 'universal-2',
        file: await file(),
        response_format: 'verbose_json',
        prompt: 'Numbers',
      });
      assert.partialDeepStrictEqual(answer, { text: 'One two three.', duration: 4, language: 'en_us' });
      assert.deepEqual(
        answer.segments?.map(({ text, start, end }) => [text, start, end]),
        [['One two three.', 0.1, 1.5]],
      );
      assert.deepEqual(
        requests.map(({ method, path }) => `${method} ${path}`),
        ['POST /v2/upload', 'POST /v2/transcript', 'GET /v2/transcript/t-1'],
      );
      assert.ok(requests[0]?.bytes.equals(WAV));
      assert.partialDeepStrictEqual(requests[1]?.json, {
        speech_models: ['universal-2'],
        language_detection: true,
        prompt: 'Numbers',
        audio_url: 'https://cdn.assemblyai.com/upload/1',
      });
    }));

  test('several keys take turns, each for one whole transcript', () =>
    withVendor(
      'assemblyai',
      script(done),
      async (client, { requests }) => {
        for (let count = 0; count < 2; count += 1) {
          await client.audio.transcriptions.create({ model: 'assemblyai', file: await file() });
        }
        assert.deepEqual(
          requests.map(({ headers }) => headers.authorization),
          [...Array(3).fill('key-number-1'), ...Array(3).fill('key-number-2')],
        );
      },
      'apiKeys: [key-number-1, key-number-2]',
    ));

  test('a transcript that failed', () =>
    withVendor('assemblyai', script({ id: 't-1', status: 'error', error: 'No spoken audio.' }), async (client) => {
      await assert.rejects(client.audio.transcriptions.create({ model: 'assemblyai', file: await file() }), {
        status: 400,
        message: /No spoken audio/,
      });
    }));

  test('its errors', () =>
    withVendor(
      'assemblyai',
      () => ({ status: 429, body: { error: 'Too many requests' } }),
      async (client) => {
        await assert.rejects(client.audio.transcriptions.create({ model: 'assemblyai', file: await file() }), {
          status: 429,
          message: /Too many requests/,
        });
      },
    ));

  test('a client that leaves does not wait for the next look', async () => {
    await withVendor('assemblyai', script({ id: 't-1', status: 'processing' }), async (client, { requests }) => {
      const controller = new AbortController();
      const answer = client.audio.transcriptions.create(
        { model: 'assemblyai', file: await file() },
        { signal: controller.signal },
      );
      await eventually('all are asked', () => requests.length >= 3);
      controller.abort();
      await assert.rejects(answer, OpenAI.APIUserAbortError);
    });
  });
});

describe('Gemini, which hears in a chat', () => {
  async function withGemini(
    text: string | readonly string[],
    run: (client: OpenAI, prompt: () => { readonly text: string; readonly body: unknown }) => Promise<void>,
  ): Promise<void> {
    const upstream = await startGeminiUpstream(() => ({ text: typeof text === 'string' ? [text] : text }));
    const gateway = await startGateway(`
providers: { gemini: { baseUrl: '${upstream.baseUrl}', apiKey: ${KEY} } }
limits: { answerBytes: 10000 }
`);
    try {
      const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
      await run(client, () => {
        const last = upstream.requests.at(-1);
        return { text: last?.prompt ?? '', body: last?.body };
      });
    } finally {
      await gateway.close();
      await upstream.close();
    }
  }

  test('the text, without naming a model', () =>
    withGemini('Guten Morgen.\n', async (client, prompt) => {
      const { text } = await client.audio.transcriptions.create({
        model: 'gemini',
        file: await file(),
        prompt: 'Morgen',
      });
      assert.equal(text, 'Guten Morgen.');
      assert.match(prompt().text, /word for word.*Morgen/);
      const data = { inlineData: { mimeType: 'audio/wav', data: WAV.toString('base64') } };
      assert.partialDeepStrictEqual(prompt().body, { contents: [{ parts: [data] }] });
    }));

  test('a translation', () =>
    withGemini('Good morning.', async (client, prompt) => {
      const { text } = await client.audio.translations.create({ model: 'gemini/gemini-2.5-flash', file: await file() });
      assert.equal(text, 'Good morning.');
      assert.match(prompt().text, /into English/);
    }));

  test('times, in a form that it is held to', () =>
    withGemini('{"segments":[{"start":0,"end":1.5,"text":"Good morning."}]}', async (client, prompt) => {
      const asked = { model: 'gemini', file: await file(), response_format: 'vtt' } as const;
      const subtitles = await client.audio.transcriptions.create(asked);
      assert.equal(subtitles, 'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGood morning.\n\n');
      assert.match(JSON.stringify(prompt().body), /"responseSchema"|"responseJsonSchema"/);
    }));

  test('times in another form are no transcript', () =>
    withGemini('It says good morning.', async (client) => {
      const asked = { model: 'gemini', file: await file(), response_format: 'srt' } as const;
      await assert.rejects(client.audio.transcriptions.create(asked), { status: 502 });
    }));

  test('one that is larger than the limit is not taken in', () =>
    withGemini(Array<string>(20).fill('x'.repeat(1_000)), async (client) => {
      await assert.rejects(client.audio.transcriptions.create({ model: 'gemini', file: await file() }), {
        status: 502,
        message: /larger than Sluice takes in/,
      });
    }));

  test('as a stream', () =>
    withGemini(['Guten', ' Morgen.'], async (client) => {
      const stream = await client.audio.transcriptions.create({ model: 'gemini', file: await file(), stream: true });
      const events: unknown[] = [];
      for await (const { type, ...event } of stream) events.push([type, 'delta' in event ? event.delta : '']);
      assert.deepEqual(events, [
        ['transcript.text.delta', 'Guten'],
        ['transcript.text.delta', ' Morgen.'],
        ['transcript.text.done', ''],
      ]);
    }));
});
