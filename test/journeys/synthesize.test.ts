import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { type AudioFacts, audioFacts } from '../support/audio.ts';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { startSluice } from '../support/run-sluice.ts';

let gateway: Gateway;

function address(query: Readonly<Record<string, string>> | string, provider = 'flite'): string {
  const search = typeof query === 'string' ? query : new URLSearchParams(query).toString();
  return `${gateway.origin}/backend-api/v2/synthesize/${provider}?${search}`;
}

async function say(query: Readonly<Record<string, string>>, headers: Record<string, string> = {}, provider?: string) {
  const response = await fetch(address(query, provider), { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get('content-type'), headers: response.headers, bytes };
}

async function refused(query: Readonly<Record<string, string>> | string, provider?: string) {
  const response = await fetch(address(query, provider));
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const { error } = (await response.json()) as { error: { message: string; code: string; param: string | null } };
  return { status: response.status, ...error };
}

const TEXT = 'Hello there. This is Sluice, which reads a text aloud.';

describe('reading aloud', () => {
  before(async () => {
    gateway = await startGateway('embedded: { enabled: true }\nlimits: { urlBytes: 64000 }');
  });
  after(() => gateway.close());

  describe('GET synthesize/<provider> with the embedded voice', () => {
    for (const [format, type, facts] of [
      ['mp3', 'audio/mpeg', { format: 'mp3', rate: 16_000 }],
      ['ogg', 'audio/ogg; codecs=vorbis', { format: 'vorbis', rate: 16_000 }],
      ['opus', 'audio/ogg; codecs=opus', { format: 'opus', rate: 48_000 }],
      ['wav', 'audio/wav', { format: 'wav', rate: 16_000 }],
    ] as const) {
      test(`${format}: a sound file as long as the text`, async () => {
        const answer = await say({ text: TEXT, format });
        assert.equal(answer.status, 200);
        assert.equal(answer.type, type);
        const found: AudioFacts = audioFacts(answer.bytes);
        assert.deepEqual({ format: found.format, rate: found.rate }, facts);
        assert.ok(found.seconds > 2.5 && found.seconds < 6, `${found.seconds} s`);
      });
    }

    test('pcm: raw samples, 24,000 a second', async () => {
      const { type, bytes } = await say({ text: TEXT, format: 'pcm' });
      assert.equal(type, 'audio/pcm;rate=24000;channels=1');
      const { seconds } = audioFacts((await say({ text: TEXT, format: 'wav' })).bytes);
      assert.ok(Math.abs(bytes.length / 2 / 24_000 - seconds) < 0.01);
    });

    test('may be kept for a week, by this client only', async () => {
      const { headers } = await say({ text: 'Yes.' });
      assert.equal(headers.get('cache-control'), 'private, max-age=604800');
      assert.equal(headers.get('x-sluice-provider'), 'flite');
      assert.equal(headers.get('vary'), 'Origin, Accept');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
    });

    test('other texts, voices and speeds sound different; the same is the same to the byte', async () => {
      const base = { text: TEXT, format: 'wav' };
      const [plain, again, words, voice, fast] = await Promise.all([
        say(base),
        say(base),
        say({ ...base, text: 'Something else altogether, though about as long.' }),
        say({ ...base, voice: 'kal16' }),
        say({ ...base, speed: '2' }),
      ]);
      assert.deepEqual(again.bytes, plain.bytes);
      for (const other of [words, voice, fast]) assert.notDeepEqual(other.bytes, plain.bytes);
      const ratio = audioFacts(plain.bytes).seconds / audioFacts(fast.bytes).seconds;
      assert.ok(ratio > 1.8 && ratio < 2.2, `${ratio}`);
    });

    test('embedded is another name of the voice, as are its label and other case', async () => {
      const { bytes } = await say({ text: 'Yes.', format: 'wav' });
      for (const name of ['embedded', 'Flite', 'Embedded%20voice%20(Flite)']) {
        const answer = await say({ text: 'Yes.', format: 'wav' }, {}, name);
        assert.deepEqual(answer.bytes, bytes, name);
      }
    });

    test('a listing tells that it speaks, and who chats does not meet it', async () => {
      const base = `${gateway.origin}/backend-api/v2`;
      const providers = (await (await fetch(`${base}/providers`)).json()) as { name: string; audio: number }[];
      assert.equal(providers.find(({ name }) => name === 'flite')?.audio, 1);
      const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider: 'flite', model: 'flite', messages: [{ role: 'user', content: 'x' }] }),
      });
      assert.equal(response.status, 501);
    });

    test('empty fields of a form are left open, what else a query has does no harm', async () => {
      const answer = await say({
        text: 'Yes.',
        format: 'wav',
        voice: '',
        speed: '',
        base_url: 'http://127.0.0.1:1',
        api_key: 'x',
        __proto__: 'x',
        'constructor[prototype]': 'x',
        locale: 'en-US',
      });
      assert.deepEqual(answer.bytes, (await say({ text: 'Yes.', format: 'wav' })).bytes);
      assert.equal(answer.headers.get('x-sluice-dropped'), 'locale');
    });

    test('HEAD tells the type and says nothing', async () => {
      const response = await fetch(address({ text: TEXT }), { method: 'HEAD' });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'audio/mpeg');
      assert.equal(response.headers.get('content-length'), null);
      assert.equal(response.headers.get('vary'), 'Origin, Accept');
    });
  });

  describe('the format', () => {
    for (const [accept, type] of [
      ['*/*', 'audio/mpeg'],
      ['audio/*', 'audio/mpeg'],
      ['audio/wav', 'audio/wav'],
      ['audio/x-wav;q=0.3, audio/mpeg;q=0.2', 'audio/wav'],
      ['audio/mpeg;q=0, audio/*', 'audio/ogg; codecs=vorbis'],
      ['audio/ogg; codecs=opus', 'audio/ogg; codecs=opus'],
      ['audio/ogg; codecs="opus", */*;q=0.1', 'audio/ogg; codecs=opus'],
      ['audio/opus', 'audio/ogg; codecs=opus'],
      // What Firefox sends for <audio>.
      [
        'audio/webm,audio/ogg,audio/wav,audio/*;q=0.9,application/ogg;q=0.7,video/*;q=0.6,*/*;q=0.5',
        'audio/ogg; codecs=vorbis',
      ],
      ['text/html', 'audio/mpeg'],
      ['', 'audio/mpeg'],
      ['audio/mpeg;q=x, ;;;,,', 'audio/mpeg'],
    ] as const) {
      test(`Accept: ${accept}`, async () => {
        assert.equal((await say({ text: 'Yes.' }, { accept })).type, type);
      });
    }

    test('the query beats the header', async () => {
      assert.equal((await say({ text: 'Yes.', format: 'wav' }, { accept: 'audio/mpeg' })).type, 'audio/wav');
    });

    test('one that the voice does not have: 501, which names those there are', async () => {
      const flac = await refused({ text: 'Yes.', format: 'flac' });
      assert.deepEqual(
        { status: flac.status, code: flac.code, param: flac.param },
        {
          status: 501,
          code: 'not_supported',
          param: 'format',
        },
      );
      assert.match(flac.message, /mp3, ogg, opus, wav, pcm/);
      assert.equal((await say({ text: 'Yes.' }, { accept: 'audio/flac' })).status, 501);
    });
  });

  describe('refusals', () => {
    const many = new URLSearchParams({ text: 'x'.repeat(10_001) }).toString();
    for (const [name, query, status, code, param] of [
      ['no text', '', 400, 'invalid_request', 'text'],
      ['an empty text', 'text=', 400, 'invalid_request', 'text'],
      ['only white space', 'text=%20%0A%09', 400, 'invalid_request', 'text'],
      ['only control characters', 'text=%00%01%1B', 400, 'invalid_request', 'text'],
      ['nothing that can be said', 'text=%E4%BD%A0%E5%A5%BD', 400, 'invalid_request', 'text'],
      ['punctuation alone', 'text=...---', 400, 'invalid_request', 'text'],
      ['two texts', 'text=a&text=b', 400, 'invalid_request', 'text'],
      ['two of anything else', 'text=a&locale=b&locale=c', 400, 'invalid_request', 'locale'],
      ['an unknown format', 'text=a&format=exe', 400, 'invalid_request', 'format'],
      ['an unknown voice', 'text=a&voice=nobody', 400, 'invalid_request', 'voice'],
      ['a voice that is a path', 'text=a&voice=/etc/passwd', 400, 'invalid_request', 'voice'],
      ['a voice that is an option', 'text=a&voice=-voicedump', 400, 'invalid_request', 'voice'],
      ['too fast', 'text=a&speed=4.1', 400, 'invalid_request', 'speed'],
      ['too slow', 'text=a&speed=0', 400, 'invalid_request', 'speed'],
      ['no number', 'text=a&speed=fast', 400, 'invalid_request', 'speed'],
      ['another notation of numbers', 'text=a&speed=0x1', 400, 'invalid_request', 'speed'],
      ['no language', 'text=a&language=../..', 400, 'invalid_request', 'language'],
      ['a language that the voice does not speak', 'text=a&language=de', 400, 'invalid_request', 'language'],
      ['an unknown model', 'text=a&model=gpt', 404, 'model_not_found', 'model'],
      ['more than 10,000 characters', many, 413, 'too_large', 'text'],
    ] as const) {
      test(`${name}: ${status}`, async () => {
        const answer = await refused(query);
        assert.deepEqual({ status: answer.status, code: answer.code, param: answer.param }, { status, code, param });
        assert.doesNotMatch(answer.message, /\n|node_modules|\.ts|\/src\//);
      });
    }

    for (const name of ['nobody', 'fli', '..', '__proto__', 'constructor', 'a%0d%0ab', 'x'.repeat(300)]) {
      test(`the provider ${name.slice(0, 20)}: 404`, async () => {
        const response = await fetch(address({ text: 'a' }, encodeURIComponent(name)));
        assert.equal(response.status, 404);
        assert.equal(typeof ((await response.json()) as { error: { message: string } }).error.message, 'string');
      });
    }

    test('no provider at all: 404', async () => {
      assert.equal((await fetch(`${gateway.origin}/backend-api/v2/synthesize/?text=a`)).status, 404);
    });
  });

  describe('hostile texts are read aloud, or refused, and nothing else happens', () => {
    for (const [name, text] of [
      ['what breaks the voice', `a ${'.'.repeat(3_000)}`],
      ['options', '-o /tmp/sluice-owned.wav --voicedump x -l'],
      ['a shell', '"; touch /tmp/sluice-owned; `id` $(id) | sh #'],
      ['markup', '<speak><audio src="file:///etc/passwd"/></speak>'],
      ['formats of C', '%s%n%x%p'.repeat(50)],
      ['control characters', `a${String.fromCharCode(...Array.from({ length: 31 }, (_, code) => code + 1))}b`],
      ['all of Latin-1', String.fromCharCode(...Array.from({ length: 224 }, (_, code) => code + 32))],
      ['bidi and zero width', 'a\u202e\u2066\u200b\ufeffb'],
      ['one endless word', 'x'.repeat(1_000)],
      ['endless digits', '1234567890'.repeat(40)],
      ['emoji between words', 'one 😀 two 👩‍👩‍👧‍👦 three'],
    ] as const) {
      test(name, async () => {
        const { status, bytes } = await say({ text, format: 'wav', voice: 'kal16', speed: '4' });
        assert.equal(status, 200);
        assert.ok(audioFacts(bytes).seconds > 0);
      });
    }
  });

  /** The head and the first bytes of an answer, of which nothing more is read. */
  async function begin(query: Readonly<Record<string, string>>): Promise<{ response: IncomingMessage; first: Buffer }> {
    const request = get(address(query), { agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const [first] = (await once(response, 'data')) as [Buffer];
    response.pause();
    return { response, first };
  }

  /** What the voice had said of texts whose listeners left. */
  function unheard(): { said: number; pieces: number }[] {
    const lines = gateway.log.lines.filter(({ message }) => message === 'a speech was not heard to its end');
    return lines.map(({ fields }) => fields as { said: number; pieces: number });
  }

  describe('a long text', () => {
    const long = Array.from({ length: 70 }, (_, index) => `This is sentence number ${index}, of very many ones.`).join(
      ' ',
    );

    test('its first bytes come before the rest is spoken; who leaves stops it', async () => {
      const before = unheard().length;
      const { response, first } = await begin({ text: long, format: 'wav' });
      assert.equal(first.toString('latin1', 0, 4), 'RIFF');
      response.destroy();
      await eventually('another is there', () => unheard().length !== before);
      const { said, pieces } = unheard().at(-1) ?? { said: 0, pieces: 0 };
      assert.ok(pieces > 12 && said < pieces / 2, `${said} of ${pieces}`);
    });

    test('others are served meanwhile, and what a slow listener gets is whole', async () => {
      const slow = await begin({ text: long, format: 'ogg', speed: '4' });
      const { bytes } = await say({ text: 'Yes.', format: 'wav' });
      assert.equal(audioFacts(bytes).format, 'wav');
      const rest: Buffer[] = [slow.first];
      slow.response.on('data', (piece: Buffer) => rest.push(piece));
      slow.response.resume();
      await once(slow.response, 'end');
      const { seconds } = audioFacts(Buffer.concat(rest));
      assert.ok(seconds > 30, `${seconds} s`);
    });

    test('other requests do not wait for it', async () => {
      const running = say({ text: long.slice(0, 600), format: 'opus' });
      const version = fetch(`${gateway.origin}/backend-api/v2/version`);
      const first = await Promise.race([running.then(() => 'speech'), version.then(({ status }) => status)]);
      assert.equal(first, 200);
      assert.equal((await running).status, 200);
    });
  });

  test('the terminal stays clean', async (context) => {
    const running = startSluice(context, ['--bind', '127.0.0.1:0'], { folder: temporaryFolder(context) });
    const [, host = ''] = await running.said(/Page +http:\/\/(\S+)\//);
    for (const format of ['mp3', 'opus', 'ogg']) {
      const response = await fetch(`http://${host}/backend-api/v2/synthesize/flite?text=Hello&format=${format}`);
      assert.equal(response.status, 200);
      await response.arrayBuffer();
    }
    running.process.kill('SIGTERM');
    const { stdout, stderr, code } = await running.ended;
    assert.equal(code, 0);
    assert.doesNotMatch(stdout + stderr, /warning|experimental|wasi|error/i);
  });
});
