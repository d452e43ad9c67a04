import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { HEARD } from '../support/listening-upstream.ts';
import { usageLines } from '../support/usage.ts';

import { type Fields, WAV, type World, wav, world } from './audio-world.ts';

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
    const stream = await here.client.audio.transcriptions.create(
      {
        model: 'gpt-test-transcribe',
        file: await toFile(WAV, 'morning.wav'),
        stream: true,
      },
      { headers: { 'x-user': 'counted' } },
    );
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
    const noted = async (): Promise<string[]> =>
      (await usageLines(here.gateway.origin)).filter((line) => line.includes('"counted"'));
    await eventually('tokens are noted', async () => (await noted()).length > 0);
    // Time for a second record, should there be one.
    await sleep(100);
    const records = await noted();
    assert.equal(records.length, 1);
    assert.match(records[0] ?? '', /"total_tokens":23\b/);
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
      ['\x1a\x45\xdf\xa3....matroska', 'audio/webm', 'recording.webm'],
      ['\0\0\0\x14ftypqt  ', 'audio/mp4', 'recording.mp4'],
      ['\0\0\x01\xba', 'audio/mpeg', 'recording.mpeg'],
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
    ['no time at all', { file: wav(), timeout: '0' }, 422, 'invalid_field'],
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
