import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { APIError } from 'openai';
import { audioFacts } from '../support/audio.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

type Json = Record<string, unknown>;

const MODEL = 'gemini-2.5-flash-preview-tts';
const RATE = 24_000;
const SECONDS = 12; // more than one piece
/** A tone, as Google sends it: bare samples of 16 bits. */
const TONE = Buffer.alloc(2 * RATE * SECONDS);
for (let index = 0; index < RATE * SECONDS; index += 1) {
  TONE.writeInt16LE(Math.round(8_000 * Math.sin(index / 20)), 2 * index);
}

const answer = (parts: readonly Json[], finishReason = 'STOP'): Json => ({
  candidates: [{ content: { parts, role: 'model' }, finishReason, index: 0 }],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 300, totalTokenCount: 304 },
});
const sound = (mimeType: string, bytes: Buffer): Json =>
  answer([{ inlineData: { mimeType, data: bytes.toString('base64') } }]);
const SPOKEN = sound(`audio/L16;codec=pcm;rate=${RATE}`, TONE);

describe('Gemini’s models that speak', { timeout: 60_000 }, () => {
  let google: ScriptedServer;
  let gateway: Gateway;
  let client: OpenAI;
  let answers: Json = SPOKEN;
  before(async () => {
    google = await startScriptedServer(({ method, path }, response) => {
      if (path.endsWith(':streamGenerateContent')) {
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(`data: ${JSON.stringify(answers)}\r\n\r\n`);
        return undefined;
      }
      if (method === 'POST') return { body: answers };
      const models = [
        { name: 'models/gemini-2.5-flash', supportedGenerationMethods: ['generateContent'] },
        { name: `models/${MODEL}`, supportedGenerationMethods: ['generateContent'] },
      ];
      return { body: { models } };
    });
    gateway = await startGateway(`
providers:
  gemini: { baseUrl: '${google.origin}', apiKey: key-of-google }
limits: { attempts: 1 }
`);
    client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'any', maxRetries: 0 });
  });
  after(async () => {
    await gateway.close();
    await google.close();
  });

  const speak = async (
    given: Json,
    fields: Partial<OpenAI.Audio.SpeechCreateParams> = {},
  ): Promise<{ bytes: Buffer; headers: Headers }> => {
    answers = given;
    const voice = 'Puck';
    const response = await client.audio.speech.create({ model: MODEL, voice, input: 'Good morning', ...fields });
    return { bytes: Buffer.from(await response.arrayBuffer()), headers: response.headers };
  };
  const asked = (): Json => google.requests.at(-1)?.json ?? assert.fail();

  test('samples become the file that was asked for', async () => {
    for (const [format, type, found] of [
      ['mp3', 'audio/mpeg', { format: 'mp3', rate: RATE }],
      ['opus', 'audio/ogg; codecs=opus', { format: 'opus', rate: 48_000 }],
      ['wav', 'audio/wav', { format: 'wav', rate: RATE }],
    ] as const) {
      const { bytes, headers } = await speak(SPOKEN, { response_format: format });
      assert.equal(headers.get('content-type'), type);
      assert.partialDeepStrictEqual(audioFacts(bytes), found);
      const { seconds } = audioFacts(bytes);
      assert.ok(seconds >= SECONDS && seconds < SECONDS + 0.15, `${format}: ${seconds} s`);
    }
    const { bytes, headers } = await speak(SPOKEN, { response_format: 'pcm' });
    assert.equal(headers.get('content-type'), 'audio/pcm;rate=24000;channels=1');
    assert.ok(bytes.equals(TONE));
  });

  test('a file of newer models goes on as it came, to whoever asked for one', async () => {
    const { bytes: file } = await speak(SPOKEN, { response_format: 'wav' });
    for (const type of ['audio/wav', 'audio/x-wav']) {
      const { bytes, headers } = await speak(sound(type, file), { response_format: 'wav' });
      assert.equal(headers.get('content-type'), 'audio/wav');
      assert.ok(bytes.equals(file), type);
    }
    await assert.rejects(speak(sound('audio/wav', file), { response_format: 'pcm' }), { status: 502 });
  });

  test('is asked with the voice, the words and how to say them', async () => {
    await speak(SPOKEN, { instructions: 'Whisper', response_format: 'pcm', speed: 1, ...{ language: 'en-GB' } });
    assert.partialDeepStrictEqual(asked(), {
      contents: [{ role: 'user', parts: [{ text: 'Whisper: Good morning' }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { languageCode: 'en-GB', voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } } },
      },
    });
    const { path, headers } = google.requests.at(-1) ?? assert.fail();
    assert.deepEqual([path, headers['x-goog-api-key']], [`/models/${MODEL}:generateContent`, 'key-of-google']);
    await speak(SPOKEN, { model: `gemini/models/${MODEL}`, response_format: 'pcm' });
    assert.equal(google.requests.at(-1)?.path, path);
  });

  test('several speakers', async () => {
    const voiceConfig = { prebuiltVoiceConfig: { voiceName: 'Kore' } };
    const multiSpeakerVoiceConfig = { speakerVoiceConfigs: [{ speaker: 'Joe', voiceConfig }] };
    await speak(SPOKEN, { input: 'Joe: Hello', ...{ multiSpeakerVoiceConfig } });
    assert.partialDeepStrictEqual(asked(), { generationConfig: { speechConfig: { multiSpeakerVoiceConfig } } });
  });

  test('samples at another rate are brought to the one that clients expect', async () => {
    for (const type of ['audio/L16;rate=16000', 'audio/pcm;rate=16000']) {
      const slow = sound(type, TONE.subarray(0, 2 * 16_000));
      const { bytes } = await speak(slow, { response_format: 'pcm' });
      assert.equal(bytes.length, 2 * RATE, type);
    }
  });

  test('what it has no place for is told', async () => {
    const { headers } = await speak(SPOKEN, { speed: 2, response_format: 'pcm', ...{ pitch: 3, turns: 'two' } });
    assert.deepEqual(headers.get('x-sluice-dropped')?.split(', ').sort(), ['pitch', 'speed', 'turns']);
  });

  for (const [title, given, fields, status, message] of [
    ['a format that nobody makes', SPOKEN, { response_format: 'flac' }, 501, /mp3, ogg, opus, wav, pcm/],
    ['speakers that are none', SPOKEN, { multiSpeakerVoiceConfig: { who: 1 } }, 400, /speakerVoiceConfigs/],
    ['a model of no such name', SPOKEN, { model: 'gemini/../x' }, 404, /no model of that name/],
    [
      'words that are refused',
      { promptFeedback: { blockReason: 'SAFETY' } },
      {},
      400,
      /does not read this aloud: SAFETY/,
    ],
    ['words for an answer', answer([{ text: 'Hello' }]), {}, 502, /without any audio/],
    ['a file that nobody asked for', sound('audio/aac', TONE), {}, 502, /audio\/aac instead of samples/],
  ] as const) {
    test(`${title}: ${status}`, async () => {
      await assert.rejects(speak(given, fields as Json), (error) => {
        assert.ok(error instanceof APIError, String(error));
        assert.equal(error.status, status, error.message);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  test('the web backend reads aloud with the first model that speaks', async () => {
    answers = SPOKEN;
    const response = await fetch(`${gateway.origin}/backend-api/v2/synthesize/gemini?text=Hello&format=mp3`);
    assert.equal(response.status, 200);
    assert.equal(audioFacts(Buffer.from(await response.arrayBuffer())).format, 'mp3');
    assert.equal(google.requests.at(-1)?.path, `/models/${MODEL}:generateContent`);
    const listed = await (await fetch(`${gateway.origin}/v1/models`)).json();
    const { data } = listed as { data: { id: string; type?: string }[] };
    assert.ok(data.some(({ id }) => id === MODEL));
  });

  test('Google’s own client gets the samples as they are', async () => {
    const part = { inlineData: { mimeType: 'audio/L16;rate=24000', data: TONE.subarray(0, 100).toString('base64') } };
    answers = answer([part]);
    const own = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: gateway.origin } });
    const config = { responseModalities: ['AUDIO'] };
    const { candidates } = await own.models.generateContent({ model: MODEL, contents: 'Hello', config });
    assert.deepEqual(candidates?.[0]?.content?.parts, [part]);
  });
});
