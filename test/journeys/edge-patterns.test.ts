import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

/**
 * Texts that careless regular expressions take the square of their length for: an answer comes, and others are served
 * meanwhile. With such a pattern each of these would take minutes. `test/fuzz/patterns.test.ts` looks at the patterns themselves.
 */

type Json = Record<string, unknown>;

const LENGTH = 400_000;
const LONG_ADDRESS = `data:${'a'.repeat(LENGTH)}`;
const BLANKS = ' '.repeat(LENGTH);

const chat = (message: Json): Json => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Here.', ...message }, finish_reason: 'stop' }],
});

describe('texts that are slow to look through', { timeout: 120_000 }, () => {
  let upstream: ScriptedServer;
  let gateway: Gateway;
  let answers: Json = {};
  before(async () => {
    upstream = await startScriptedServer(({ method }) => ({ body: method === 'POST' ? answers : { data: [] } }));
    const address = `baseUrl: '${upstream.origin}', apiKey: k`;
    gateway = await startGateway(`
providers:
  acme: { kind: openai, ${address}, models: [m, gpt-image-1, whisper-1] }
  goo: { kind: google, ${address}, models: [gemini-3-pro] }
  fal: { ${address} }
limits: { attempts: 1 }
`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function ask(path: string, body: Json): Promise<{ status: number; text: string }> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${gateway.origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, text: await response.text() };
  }

  const pictures = { images: [{ type: 'image_url', image_url: { url: LONG_ADDRESS } }] };
  const question = [{ role: 'user', content: 'x' }];
  const cut = `x\n\n> [1] [${BLANKS}x\n\ny`;
  for (const [title, path, body, given] of [
    [
      'an address of a file for Gemini',
      '/v1beta/models/goo%2Fgemini-3-pro:generateContent',
      { contents: [{ role: 'user', parts: [{ fileData: { fileUri: LONG_ADDRESS } }] }] },
      {},
    ],
    [
      'a picture for the library of a vendor',
      '/v1/images/edits',
      { provider: 'fal', model: 'fal-ai/flux/dev', prompt: 'x', image: LONG_ADDRESS },
      {},
    ],
    ['a picture of an answer, for Responses', '/v1/responses', { model: 'acme/m', input: 'x' }, chat(pictures)],
    [
      'a picture of an answer, for Gemini’s clients',
      '/v1beta/models/acme%2Fm:generateContent',
      { contents: [{ parts: [{ text: 'x' }] }] },
      chat(pictures),
    ],
    [
      'an answer to go on with',
      '/backend-api/v2/conversation',
      {
        provider: 'acme',
        model: 'm',
        action: 'continue',
        messages: [...question, { role: 'assistant', content: cut }],
      },
      chat({}),
    ],
  ] as const) {
    test(title, { timeout: 20_000 }, async () => {
      answers = given;
      const { status, text } = await ask(path, body as Json);
      assert.notEqual(status, 500, text.slice(0, 300));
    });
  }

  test('a transcript as subtitles', { timeout: 20_000 }, async () => {
    answers = { text: 'a', segments: [{ start: 0, end: 1, text: `a${BLANKS}b` }] };
    const form = new FormData();
    const head = Buffer.from(
      'RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0',
      'latin1',
    );
    form.set('file', new File([head], 'a.wav'));
    form.set('model', 'acme/whisper-1');
    form.set('response_format', 'srt');
    const response = await fetch(`${gateway.origin}/v1/audio/transcriptions`, { method: 'POST', body: form });
    assert.equal(response.status, 200);
    assert.match(await response.text(), /00:00:00,000 --> 00:00:01,000\na {400000}b\n/);
  });

  test('a picture that is written in escapes is no picture', async () => {
    const image = `data:image/png,${'%41a'.repeat(2_000_000)}`;
    const { status, text } = await ask('/v1/images/edits', { model: 'acme/gpt-image-1', prompt: 'x', image });
    assert.equal(status, 400, text);
    assert.match(text, /no PNG, JPEG, WebP or GIF/);
  });

  test('a picture whose address is incomplete is the client’s mistake', async () => {
    const { status, text } = await ask('/v1/images/edits', {
      model: 'acme/gpt-image-1',
      prompt: 'x',
      image: 'data:aaaa',
    });
    assert.equal(status, 400, text);
    assert.match(text, /incomplete/);
  });
});
