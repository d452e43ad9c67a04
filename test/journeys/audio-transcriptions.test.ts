import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { type Gateway, startGateway } from '../support/gateway.ts';
import {
  HEARD,
  type ListeningScript,
  type ListeningUpstream,
  silence,
  startListeningUpstream,
} from '../support/listening-upstream.ts';

interface World {
  readonly gateway: Gateway;
  readonly upstream: ListeningUpstream;
  readonly client: OpenAI;
  post(fields: Fields, path?: string): Promise<{ status: number; headers: Headers; text: string }>;
  close(): Promise<void>;
}

type Fields = Readonly<Record<string, string | Blob | readonly string[]>>;

const WAV = silence();

function wav(): Blob {
  return new Blob([new Uint8Array(WAV)], { type: 'audio/wav' });
}

async function world(script?: ListeningScript, more = ''): Promise<World> {
  const upstream = await startListeningUpstream(script);
  const gateway = await startGateway(`
providers:
  acme: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: key-of-acme }
  claude: { kind: anthropic, baseUrl: 'http://127.0.0.1:9', apiKey: no-key, models: [claude-test] }
${more}`);
  return {
    gateway,
    upstream,
    client: new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 }),
    async post(fields, path = '/v1/audio/transcriptions') {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) {
        for (const each of Array.isArray(value) ? value : [value]) {
          if (typeof each === 'string') body.append(name, each);
          else body.append(name, each as Blob, 'anything.wav');
        }
      }
      const response = await fetch(gateway.origin + path, { method: 'POST', body });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}

describe('POST /v1/audio/transcriptions', () => {
  let here: World;
  before(async () => {
    here = await world();
  });
  after(() => here.close());

  test('the official client gets the text', async () => {
    const answer = await here.client.audio.transcriptions.create({
      model: 'whisper-test',
      file: await toFile(WAV, 'morning.wav'),
      language: 'en',
      prompt: 'Greetings',
      temperature: 0.2,
    });
    assert.equal(answer.text, HEARD);
    assert.partialDeepStrictEqual(answer, { model: 'whisper-test', provider: 'acme', usage: { seconds: 4 } });
    const form = here.upstream.forms.at(-1);
    assert.deepEqual(form?.fields, {
      model: ['whisper-test'],
      language: ['en'],
      prompt: ['Greetings'],
      temperature: ['0.2'],
      response_format: ['json'],
    });
    assert.equal(form?.path, '/v1/audio/transcriptions');
    assert.ok(form?.file.bytes.equals(WAV));
    assert.deepEqual([form?.file.type, form?.file.name], ['audio/wav', 'recording.wav']);
  });

  test('times of segments and words', async () => {
    const answer = await here.client.audio.transcriptions.create({
      model: 'whisper-test',
      file: await toFile(WAV, 'morning.wav'),
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    assert.equal(answer.text, HEARD);
    assert.equal(answer.language, 'english');
    assert.equal(answer.duration, 3.25);
    assert.deepEqual(answer.segments?.[0]?.avg_logprob, -0.1);
    assert.deepEqual(answer.words?.[1], { word: 'morning', start: 0.5, end: 1.5 });
    const fields = here.upstream.forms.at(-1)?.fields;
    assert.deepEqual(fields?.['timestamp_granularities[]'], ['word', 'segment']);
  });

  for (const [format, type, text] of [
    ['text', 'text/plain', `${HEARD}\n`],
    [
      'srt',
      'text/plain',
      '1\n00:00:00,000 --> 00:00:01,500\nGood morning.\n\n2\n00:00:01,500 --> 00:00:03,250\nIs <this> on?\n\n',
    ],
    [
      'vtt',
      'text/vtt',
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGood morning.\n\n00:00:01.500 --> 00:00:03.250\nIs &lt;this&gt; on?\n\n',
    ],
  ] as const) {
    test(`${format} is made here of what the upstream knows`, async () => {
      const file = await toFile(WAV, 'morning.wav');
      const answer = await here.client.audio.transcriptions.create({
        model: 'whisper-test',
        file,
        response_format: format,
      });
      assert.equal(answer, text);
      const raw = await here.post({ file: wav(), model: 'whisper-test', response_format: format });
      assert.match(raw.headers.get('content-type') ?? '', new RegExp(`^${type}`));
      const asked = here.upstream.forms.at(-1)?.fields['response_format'];
      assert.deepEqual(asked, [format === 'text' ? 'json' : 'verbose_json']);
    });
  }

  test('a model that streams does, with the official client', async () => {
    const before = await usageLines(here);
    const stream = await here.client.audio.transcriptions.create({
      model: 'gpt-test-transcribe',
      file: await toFile(WAV, 'morning.wav'),
      stream: true,
    });
    let deltas = 0;
    let text = '';
    let done: OpenAI.Audio.TranscriptionTextDoneEvent | undefined;
    for await (const event of stream) {
      if (event.type === 'transcript.text.delta') {
        deltas += 1;
        text += event.delta;
      }
      if (event.type === 'transcript.text.done') done = event;
    }
    assert.equal(text, HEARD);
    assert.ok(deltas > 2);
    assert.equal(done?.text, HEARD);
    assert.equal(done?.usage?.total_tokens, 23);
    assert.equal(before + 1, await usageLines(here), 'tokens are noted');
  });

  test('one that does not stream is asked for the whole, which is one event', async () => {
    const file = await toFile(WAV, 'morning.wav');
    const stream = await here.client.audio.transcriptions.create({ model: 'whisper-test', file, stream: true });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    assert.deepEqual(types, ['transcript.text.delta', 'transcript.text.done']);
  });

  test('translations go to the other endpoint, in the language of the recording', async () => {
    const file = await toFile(WAV, 'morning.wav');
    const { text } = await here.client.audio.translations.create({ model: 'whisper-test', file });
    assert.equal(text, `In English: ${HEARD}`);
    assert.equal(here.upstream.forms.at(-1)?.path, '/v1/audio/translations');
    const { headers } = await here.post(
      { file: wav(), model: 'whisper-test', language: 'de' },
      '/v1/audio/translations',
    );
    assert.equal(headers.get('x-sluice-dropped'), 'language');
  });

  for (const [name, fields, path] of [
    ['nobody: whoever lists a model that hears', {}, undefined],
    ['the provider', { provider: 'acme' }, undefined],
    ['the provider in the path', {}, '/api/acme/audio/transcriptions'],
    ['provider/model', { model: 'acme/whisper-test' }, undefined],
  ] as const) {
    test(`asked of ${name}`, async () => {
      const { status, text, headers } = await here.post({ file: wav(), ...fields }, path);
      assert.equal(status, 200, text);
      assert.equal(headers.get('x-sluice-model'), 'whisper-test');
      assert.deepEqual(here.upstream.forms.at(-1)?.fields['model'], ['whisper-test']);
    });
  }

  test('fields that nobody here knows reach the upstream, ours do not', async () => {
    await here.post({
      file: wav(),
      model: 'whisper-test',
      provider: 'acme',
      'include[]': ['logprobs', 'more'],
      vad_filter: 'true',
      base_url: 'http://elsewhere.example',
      api_key: 'another-key',
      timeout: '20',
      user: 'someone',
    });
    assert.deepEqual(here.upstream.forms.at(-1)?.fields, {
      model: ['whisper-test'],
      response_format: ['json'],
      'include[]': ['logprobs', 'more'],
      vad_filter: ['true'],
    });
    assert.equal(here.upstream.requests.at(-1)?.headers.authorization, 'Bearer another-key');
  });

  test('the bytes tell the type, not the name', async () => {
    const cases: readonly (readonly [string, string, string])[] = [
      ['ID3\x04\0\0', 'audio/mpeg', 'recording.mp3'],
      ['fLaC\0\0\0', 'audio/flac', 'recording.flac'],
      [`OggS${'\0'.repeat(24)}OpusHead`, 'audio/ogg', 'recording.ogg'],
      ['\x1a\x45\xdf\xa3....webm', 'audio/webm', 'recording.webm'],
      ['\0\0\0\x20ftypM4A ', 'audio/mp4', 'recording.m4a'],
      ['\xff\xf1\x50\x80', 'audio/aac', 'recording.aac'],
      ['FORM\0\0\0\0AIFF', 'audio/aiff', 'recording.aiff'],
      ['#!AMR\n', 'audio/amr', 'recording.amr'],
    ];
    for (const [head, type, name] of cases) {
      const file = new Blob([new Uint8Array(Buffer.from(head.padEnd(64, '\0'), 'latin1'))], { type: 'text/html' });
      const { status, text } = await here.post({ file, model: 'whisper-test' });
      assert.equal(status, 200, text);
      const got = here.upstream.forms.at(-1)?.file;
      assert.deepEqual([got?.type, got?.name], [type, name]);
    }
  });

  const text = new Blob(['not a sound'], { type: 'audio/wav' });
  for (const [name, fields, status, code] of [
    ['no file', { model: 'whisper-test' }, 422, 'invalid_field'],
    ['two files', { file: [wav(), wav()] as unknown as readonly string[] }, 422, 'invalid_field'],
    ['an empty file', { file: new Blob([]) }, 400, 'invalid_request'],
    ['a file that is no recording', { file: text }, 415, 'unsupported_media_type'],
    ['a temperature of words', { file: wav(), temperature: 'warm' }, 422, 'invalid_field'],
    ['a language of symbols', { file: wav(), language: '../en' }, 422, 'invalid_field'],
    ['an unknown format', { file: wav(), response_format: 'docx' }, 422, 'invalid_field'],
    ['an unknown granularity', { file: wav(), 'timestamp_granularities[]': 'letter' }, 422, 'invalid_field'],
    ['a stream of subtitles', { file: wav(), stream: 'true', response_format: 'srt' }, 422, 'invalid_field'],
    ['an unknown model', { file: wav(), model: 'nobodys' }, 404, 'model_not_found'],
    ['a model that chats', { file: wav(), model: 'claude-test' }, 501, 'not_supported'],
    [
      'who says what, of one that does not tell',
      { file: wav(), response_format: 'diarized_json' },
      501,
      'not_supported',
    ],
  ] as const) {
    test(`${name}: ${status}`, async () => {
      const answer = await here.post(fields as Fields);
      const { error } = JSON.parse(answer.text) as { error: { code: string; message: string } };
      assert.deepEqual({ status: answer.status, code: error.code }, { status, code }, error.message);
    });
  }

  test('JSON is no form', async () => {
    const response = await fetch(`${here.gateway.origin}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"file":"x"}',
    });
    assert.equal(response.status, 415);
    assert.match(await response.text(), /multipart/);
  });
});

async function usageLines({ gateway }: World): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 100));
  const day = new Date().toISOString().slice(0, 10);
  const response = await fetch(`${gateway.origin}/backend-api/v2/usage/${day}`);
  return response.ok ? (await response.text()).split('\n').filter((line) => line !== '').length : 0;
}

describe('where nobody hears', () => {
  test('501 says what to configure', async () => {
    const gateway = await startGateway('');
    try {
      const body = new FormData();
      body.append('file', wav(), 'a.wav');
      const response = await fetch(`${gateway.origin}/v1/audio/transcriptions`, { method: 'POST', body });
      assert.equal(response.status, 501);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      assert.equal(error.code, 'not_supported');
      assert.match(error.message, /GROQ_API_KEY.*Whisper.*sluice\.yaml/);
    } finally {
      await gateway.close();
    }
  });
});

describe('what upstreams do', () => {
  const json = (status: number, body: string): ListeningScript => {
    return (_form, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      return true;
    };
  };
  for (const [name, script, status, code] of [
    ['no such path', json(404, '{"detail":"Not Found"}'), 501, 'not_supported'],
    [
      'a model it does not know',
      json(404, '{"error":{"message":"The model `x` does not exist"}}'),
      404,
      'model_not_found',
    ],
    ['too large a file', json(413, '{"error":{"message":"Maximum content size limit exceeded"}}'), 413, 'too_large'],
    ['a form it does not like', json(400, '{"error":{"message":"Invalid file format."}}'), 400, 'invalid_request'],
    ['HTML', json(200, '<html>'), 502, 'upstream_invalid'],
    ['no text', json(200, '{"segments":[]}'), 502, 'upstream_invalid'],
  ] as const) {
    test(`${name}: ${status}`, async () => {
      const here = await world(script, 'limits: { attempts: 1 }');
      try {
        const answer = await here.post({ file: wav(), model: 'whisper-test' });
        const { error } = JSON.parse(answer.text) as { error: { code: string; message: string } };
        assert.deepEqual({ status: answer.status, code: error.code }, { status, code }, error.message);
      } finally {
        await here.close();
      }
    });
  }

  test('text alone, from a small server', async () => {
    const here = await world((_form, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('Good day.\n');
      return true;
    });
    try {
      const { text } = await here.post({ file: wav(), model: 'whisper-test' });
      assert.equal((JSON.parse(text) as { text: string }).text, 'Good day.');
      const subtitles = await here.post({ file: wav(), model: 'whisper-test', response_format: 'vtt' });
      assert.equal(subtitles.status, 501);
    } finally {
      await here.close();
    }
  });

  test('vLLM streams in the form of chat completions', async () => {
    const here = await world((_form, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const content of ['Good', ' day.']) {
        const chunk = { object: 'transcription.chunk', choices: [{ delta: { content }, index: 0 }] };
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      }
      response.end('data: [DONE]\n\n');
      return true;
    });
    try {
      const { text } = await here.post({ file: wav(), model: 'whisper-test', stream: 'true' });
      const events = text
        .trim()
        .split('\n\n')
        .map((event) => JSON.parse(event.slice(6)) as object);
      assert.deepEqual(events, [
        { type: 'transcript.text.delta', delta: 'Good' },
        { type: 'transcript.text.delta', delta: ' day.' },
        { type: 'transcript.text.done', text: 'Good day.' },
      ]);
    } finally {
      await here.close();
    }
  });

  test('a stream that breaks off says so in its last event', async () => {
    const here = await world((_form, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ type: 'transcript.text.delta', delta: 'Good' })}\n\n`);
      return true;
    });
    try {
      const { status, text } = await here.post({ file: wav(), model: 'whisper-test', stream: 'true' });
      assert.equal(status, 200);
      assert.match(text, /upstream_cut/);
    } finally {
      await here.close();
    }
  });

  test('an error as the first event is a status', async () => {
    const here = await world((_form, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"error":{"message":"slow down","code":429}}\n\n');
      return true;
    }, 'limits: { attempts: 1 }');
    try {
      const { status, text } = await here.post({ file: wav(), model: 'whisper-test', stream: 'true' });
      assert.equal(status, 429, text);
    } finally {
      await here.close();
    }
  });

  test('a client that leaves ends the request upstream', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const here = await world(() => {
      resolve();
      return true;
    });
    try {
      const controller = new AbortController();
      const file = await toFile(WAV, 'a.wav');
      const answer = here.client.audio.transcriptions.create(
        { model: 'whisper-test', file },
        { signal: controller.signal },
      );
      await asked;
      controller.abort();
      await assert.rejects(answer, OpenAI.APIUserAbortError);
      const [request] = here.upstream.requests.filter(({ path }) => path.startsWith('/v1/audio'));
      assert.equal(await request?.closed, 'aborted');
    } finally {
      await here.close();
    }
  });
});

describe('POST /api/markitdown', () => {
  let here: World;
  before(async () => {
    here = await world();
  });
  after(() => here.close());

  async function send(
    name: string,
    bytes: string | Buffer,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const body = new FormData();
    body.append('file', new Blob([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)]), name);
    const response = await fetch(`${here.gateway.origin}/api/markitdown`, { method: 'POST', body });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }

  test('a document becomes markdown', async () => {
    const { status, json } = await send('page.html', '<h1>Title</h1><p>Some <b>text</b>.</p>');
    assert.equal(status, 200);
    assert.match(String(json['text']), /# Title[\s\S]*Some \*\*text\*\*\./);
    assert.deepEqual([json['model'], json['provider']], ['markitdown', 'sluice']);
  });

  test('text stays as it is', async () => {
    const { json } = await send('notes.txt', 'Remember the milk');
    assert.equal(json['text'], 'Remember the milk');
  });

  test('a recording is transcribed', async () => {
    const { json } = await send('voice.wav', WAV);
    assert.deepEqual([json['text'], json['provider']], [HEARD, 'acme']);
  });

  test('what is neither is refused', async () => {
    for (const [name, bytes] of [
      ['a.pdf', 'no pdf'],
      ['a.exe', 'MZ'],
    ] as const) {
      const { status, json } = await send(name, bytes);
      assert.equal(status, 415);
      assert.match((json['error'] as { message: string }).message, /^The file /);
    }
  });
});
