import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { defaultLimits } from '../../src/config/defaults.ts';
import { picture } from '../support/pictures.ts';
import { at, form, type KeptWorld, lastBody, openKept, told } from './kept-world.ts';

describe('files that come with a conversation', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  let png: Buffer;
  before(async () => {
    world = await openKept();
    png = await picture('#c03020');
  });
  after(() => world.close());

  /** The messages that arrive upstream. */
  const sent = (body: object, ...files: Parameters<typeof form>[0]) => sentWith(form(files), body);
  async function sentWith(data: FormData, body: object = {}) {
    data.append('json', JSON.stringify({ provider: 'acme', messages: [{ role: 'user', content: 'Hi' }], ...body }));
    const response = await fetch(at(world, 'conversation'), { method: 'POST', body: data });
    assert.equal(response.status, 200, await response.text());
    dropped = response.headers.get('x-sluice-dropped');
    return lastBody(world).messages;
  }
  let dropped: string | null;
  const image = () => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } });

  for (const [name, file] of Object.entries({
    'a picture': () => ['a.png', png, 'image/png'] as const,
    'a picture under the name of another kind': () => ['photo.JPG', png, 'image/jpeg'] as const,
    'a pasted picture': () => ['blob', png, 'image/png'] as const,
    'a picture without a name': () => ['', png, 'image/png'] as const,
  })) {
    test(`${name} goes by what its bytes are`, async () => {
      const [message] = await sent({}, file());
      assert.deepEqual(message?.content, [image(), { type: 'text', text: 'Hi' }]);
      assert.equal(dropped, null);
    });
  }

  const song = Buffer.from('RIFF\0\0\0\0WAVEfmt ');
  const film = Buffer.from('\0\0\0\x18ftypisom');
  for (const [name, file, part] of [
    ['a song', ['a.wav', song], { type: 'input_audio', input_audio: { data: song.toString('base64'), format: 'wav' } }],
    [
      'a film',
      ['a.mp4', film],
      { type: 'video_url', video_url: { url: `data:video/mp4;base64,${film.toString('base64')}` } },
    ],
  ] as const) {
    test(`${name} goes as what it is`, async () => {
      const [message] = await sent({}, file);
      assert.deepEqual(message?.content, [part, { type: 'text', text: 'Hi' }]);
      assert.equal(dropped, null);
    });
  }

  test('an address goes as what its name says, and as a picture where that says nothing', async () => {
    const data = form([]);
    for (const url of ['https://8.8.8.8/a.MP4?b=c.png', 'https://8.8.8.8/a']) data.append('media_url', url);
    const [message] = await sentWith(data);
    assert.deepEqual(message?.content, [
      { type: 'video_url', video_url: { url: 'https://8.8.8.8/a.MP4?b=c.png' } },
      { type: 'image_url', image_url: { url: 'https://8.8.8.8/a' } },
      { type: 'text', text: 'Hi' },
    ]);
  });

  for (const [name, file] of Object.entries({
    'a text that is called a picture': ['x.png', 'Hello', 'image/png'],
    'an empty picture': ['e.png', '', 'image/png'],
    'a text that is called a song': ['x.mp3', 'Hello', 'audio/mpeg'],
    'a pasted text': ['blob', 'Hello', 'text/plain'],
    'a document': ['a.txt', 'Hello', 'text/plain'],
  } as const)) {
    test(`${name} is passed over, and the answer says so`, async () => {
      assert.deepEqual(await sent({}, file), [{ role: 'user', content: 'Hi' }]);
      assert.equal(dropped, 'files');
    });
  }

  test('a picture in a part of another name is passed over, and the answer says so', async () => {
    const data = form([]);
    data.append('pictures', new File([new Uint8Array(png)], 'a.png', { type: 'image/png' }));
    assert.deepEqual(await sentWith(data), [{ role: 'user', content: 'Hi' }]);
    assert.equal(dropped, 'files');
  });

  for (const [name, json] of Object.entries({
    'a blob': (text: string) => new Blob([text], { type: 'application/json' }),
    'a file': (text: string) => new File([text], 'request.json'),
  })) {
    test(`the request may come as ${name}, which gives its part the name of a file`, async () => {
      const data = form([['a.png', png, 'image/png']]);
      data.append('json', json(JSON.stringify({ provider: 'acme', messages: [QUESTION] })));
      const response = await fetch(at(world, 'conversation'), { method: 'POST', body: data });
      assert.equal(response.status, 200, await response.text());
      assert.equal(response.headers.get('x-sluice-dropped'), null);
      assert.deepEqual(lastBody(world).messages, [{ role: 'user', content: [image(), { type: 'text', text: 'Hi' }] }]);
    });
  }

  test('of a request that comes as a file a conversation may have no more bytes than elsewhere, and only UTF-8', async () => {
    const send = (body: string | Uint8Array<ArrayBuffer>) => {
      const data = new FormData();
      data.append('json', new Blob([body]));
      return told(fetch(at(world, 'conversation'), { method: 'POST', body: data }));
    };
    const latin = await send(new Uint8Array(Buffer.from('{"prompt":"\xe9"}', 'latin1')));
    assert.deepEqual([latin.status, latin.message], [400, "The part 'json' is not valid UTF-8."]);
    const large = await send(`{"prompt":"${'x'.repeat(defaultLimits.chatBodyBytes)}"}`);
    assert.deepEqual([large.status, large.code, large.json.error.param], [413, 'too_large', 'json']);
  });

  const SYSTEM = { role: 'system', content: 'Be nice' };
  const QUESTION = { role: 'user', content: 'Hi' };
  const ANSWER = { role: 'assistant', content: 'Hello' };
  for (const [name, messages] of Object.entries({
    'no message of the user': [SYSTEM, { role: 'user', content: [] }],
    'an answer last': [SYSTEM, QUESTION, ANSWER, { role: 'user', content: [] }],
    'instructions last': [QUESTION, SYSTEM],
  })) {
    test(`with ${name} they are a message of the user`, async () => {
      const kept = messages.filter(({ content }) => content.length > 0);
      assert.deepEqual(await sent({ messages }, ['a.png', png]), [...kept, { role: 'user', content: [image()] }]);
    });
  }
});
