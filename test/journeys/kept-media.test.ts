import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import { eventually } from '../support/eventually.ts';
import {
  at,
  contentOf,
  converse,
  type Event,
  type KeptWorld,
  lastBody,
  openKept,
  postJson,
  remove,
  statusOf,
  told,
  upload,
} from './kept-world.ts';

const picture = async (width: number, height: number, background: string): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
const inline = (bytes: Buffer) => ({ mimeType: 'image/png', data: bytes.toString('base64') });
const mediaOf = (events: readonly Event[]): Event | undefined =>
  events.find((event) => event.type === 'content' && event['urls'] !== undefined);

describe('media of answers over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  async function draw(prompt: string, bytes: Buffer, body: object = {}): Promise<Event> {
    world.answers({ images: [inline(bytes)] });
    const events = await converse(world, { messages: [{ role: 'user', content: prompt }], ...body });
    const media = mediaOf(events);
    assert.ok(media !== undefined, JSON.stringify(events));
    return media;
  }

  test('a picture is kept, shown small, and served in every form', async () => {
    const bytes = await picture(900, 450, '#104080');
    const chunk = await draw('A blue lighthouse', bytes, { aspect_ratio: '16:9' });
    const url = String(chunk['urls']);
    assert.match(url, /^\/media\/\d+_test-model\+16_9\+A_blue_lighthouse_[0-9a-f]{16}\.png$/);
    const name = url.slice('/media/'.length);
    assert.equal(
      chunk['content'],
      `<a href="${url}" data-src="${url}" data-width="900" data-height="450"><img src="/thumbnail/${name}" alt=""></a>`,
    );
    const etags = new Set<string | null>();
    for (const route of ['media', 'images']) {
      const response = await fetch(`${world.origin}/${route}/${name}`);
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
      assert.equal(response.headers.get('content-type'), 'image/png');
      assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
      const made = Number.parseInt(name, 10) * 1_000;
      assert.equal(response.headers.get('last-modified'), new Date(made).toUTCString());
      etags.add(response.headers.get('etag'));
    }
    assert.equal(etags.size, 1);
    const [etag] = etags;
    const full = `${world.origin}${url}`;
    assert.equal(await statusOf(full, { headers: { 'if-none-match': etag ?? '' } }), 304);
    const part = await fetch(full, { headers: { range: 'bytes=1-3' } });
    assert.deepEqual([part.status, await part.text()], [206, 'PNG']);
    const beyond = await fetch(full, { headers: { range: 'bytes=99999999-' } });
    assert.match((await told(beyond)).message, /lies beyond/);
    assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, `bytes */${bytes.length}`]);
    assert.deepEqual([beyond.headers.get('etag'), beyond.headers.get('cache-control')], [null, 'no-store']);
    const backwards = await fetch(full, { headers: { range: 'bytes=5-2' } });
    assert.deepEqual([backwards.status, backwards.headers.get('content-range')], [416, `bytes */${bytes.length}`]);
    await backwards.text();
    const head = await fetch(full, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(bytes.length)]);
    const small = await fetch(`${world.origin}/thumbnail/${name}`);
    const { width, height } = await sharp(Buffer.from(await small.arrayBuffer())).metadata();
    assert.deepEqual([small.headers.get('content-type'), width, height], ['image/webp', 400, 200]);
    assert.notEqual(small.headers.get('etag'), etag);
  });

  test('the same content is kept once; a small picture is its own thumbnail', async () => {
    const bytes = await picture(12, 12, '#333333');
    const first = await draw('Twin one', bytes);
    const second = await draw('Twin two', bytes);
    assert.equal(second['urls'], first['urls']);
    const small = await fetch(world.origin + String(first['urls']).replace('/media/', '/thumbnail/'));
    assert.equal(small.headers.get('content-type'), 'image/png');
    await small.arrayBuffer();
  });

  test('in the Messages API it is markdown, whole where nobody asked to keep it, else a link', async () => {
    const bytes = await picture(64, 32, '#701030');
    world.answers({ images: [inline(bytes)] });
    const textOf = async (more: object): Promise<string> => {
      const messages = [{ role: 'user', content: 'A red roof' }];
      const body = { model: 'acme/test-model', max_tokens: 100, messages, ...more };
      const { json } = await told(postJson(`${world.origin}/v1/messages`, body));
      return json.content[0].text;
    };
    assert.equal(await textOf({}), `![](data:image/png;base64,${bytes.toString('base64')})`);
    assert.match(
      await textOf({ download_media: true }),
      /^!\[\]\([^)]*\/media\/\d+_test-model\+A_red_roof_[0-9a-f]{16}\.png\)$/,
    );
  });

  test('download_media: false leaves it where it is', async () => {
    const bytes = await picture(9, 9, '#abcdef');
    const chunk = await draw('Not kept', bytes, { download_media: false });
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    assert.equal(chunk['urls'], url);
    // Front ends keep nothing but the text of a message.
    assert.equal(chunk['content'], `![](${url})`);
    assert.equal(await statusOf(`${world.origin}/search/not+kept`, { redirect: 'manual' }), 404);
  });

  test('a spoken answer of dialect B that is kept is there too, with its words', async () => {
    const wav = '524946462400000057415645666d74201000000001000100401f0000803e0000020010006461746100000000';
    const data = Buffer.from(wav, 'hex').toString('base64');
    const audio = { id: 'audio_1', data, expires_at: 1, transcript: 'Good day' };
    const event = (choice: object): string =>
      `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`;
    const said = event({ delta: { content: '', audio } });
    world.answers({ raw: `${said}${event({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n` });
    const messages = [{ role: 'user', content: 'Say good day' }];
    for (const stream of [false, true]) {
      const body = { model: 'acme/test-model', messages, download_media: true, stream };
      const response = await postJson(`${world.origin}/v1/chat/completions`, body);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      const { choices } = JSON.parse(stream ? (/^data: (.*)$/m.exec(text)?.[1] ?? '') : text);
      const message = choices[0][stream ? 'delta' : 'message'];
      assert.match(message.content, /^\[audio\]\(\/media\/\S+\+Say_good_day_[0-9a-f]{16}\.wav\)$/);
      assert.deepEqual([message.audio?.data, message.audio?.transcript], [data, 'Good day']);
    }
  });

  test('an address that cannot be had is kept as it is, with a word about it, and no error', async () => {
    const url = 'http://192.168.7.7/x.png';
    const chunk = { choices: [{ index: 0, delta: { images: [{ type: 'image_url', image_url: { url } }] } }] };
    const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    world.answers({ raw: `data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n` });
    const events = await converse(world, {});
    assert.equal(mediaOf(events)?.['urls'], url);
    assert.ok(events.some(({ type }) => type === 'log'));
    assert.ok(!events.some(({ type }) => type === 'error'));
    assert.equal(events.at(-1)?.type, 'finish');
  });

  test('what is no known media is not found', async () => {
    for (const path of [
      'media/none.png',
      'media/a/b/c.png',
      'media/x.svg',
      'media/x.html',
      'media/.hidden.png',
      'media/',
      'images/%2e%2e%2fx.png',
      'thumbnail/none.png',
      `media/${'x'.repeat(3000)}.png`,
    ]) {
      const { status } = await told(fetch(`${world.origin}/${path}`));
      assert.equal(status, 404, path.slice(0, 60));
    }
    assert.equal(await statusOf(`${world.origin}/media/none.png`, { headers: { 'if-none-match': '*' } }), 404);
  });

  test('search finds by words of the name, the newest first', async () => {
    const names: string[] = [];
    for (const [index, colour] of ['#110000', '#220000', '#330000'].entries()) {
      const chunk = await draw(`Searchable boat number${index}`, await picture(10 + index, 10, colour));
      names.push(String(chunk['urls']));
    }
    const search = async (terms: string): Promise<string | number | undefined> => {
      const response = await fetch(`${world.origin}/search/${terms}`, { redirect: 'manual' });
      await response.text();
      if (response.status !== 302) return response.status;
      assert.equal(response.headers.get('cache-control'), 'no-store');
      return response.headers.get('location') ?? '';
    };
    assert.equal(await search('searchable+NUMBER1'), names[1]);
    assert.equal(await search('searchable%2Bnumber2'), names[2]);
    assert.equal(await search('searchable%20number0'), names[0]);
    assert.equal(await search('image+searchable+number0'), names[0]);
    assert.equal(await search('video+searchable'), 404);
    assert.equal(await search('searchable+submarine'), 404);
    for (const pattern of ['.*', 'searchable.boat', 'boat%7Csubmarine', '(', '%5B', '(q%2B)%2B%24', '%25', '*'])
      assert.equal(await search(pattern), 404, pattern);
    assert.equal(await search('searchable+submarine?min=1&skip=3'), 404);
    const all = await Promise.all(['0', '1', '2'].map((skip) => search(`searchable+submarine?min=1&skip=${skip}`)));
    assert.deepEqual([...all].sort(), [...names].sort());
    const seeded = await search('searchable?random=seed');
    for (let time = 0; time < 5; time += 1) assert.equal(await search('searchable?random=seed'), seeded);
    const drawn = new Set<string | number | undefined>();
    for (let time = 0; time < 50; time += 1) drawn.add(await search('searchable?random=true'));
    assert.ok(drawn.size > 1 && drawn.isSubsetOf(new Set(names)), [...drawn].join());
    assert.equal(await search('searchable?random=&min=&skip='), await search('searchable'), 'what is left open');
    for (const query of [
      'min=0',
      'min=2',
      'min=x',
      'min=0x1',
      'skip=-1',
      'skip=1.5',
      'skip=x',
      'skip=0x1',
      'skip=1e0',
      'skip=%201',
    ])
      assert.equal(await search(`searchable?${query}`), 400, query);
    // What comes later is seen at once.
    const later = await draw('Searchable latecomer', await picture(20, 20, '#440000'));
    assert.equal(await search('searchable+latecomer'), later['urls']);
    const seen = await fetch(`${world.origin}/search/searchable+latecomer`);
    assert.deepEqual([seen.status, seen.headers.get('content-type')], [200, 'image/png']);
    await seen.arrayBuffer();
  });

  test('a picture that comes again is kept once, and found by the words of every time', async () => {
    const bytes = await picture(12, 34, '#abcdef');
    const search = async (terms: string): Promise<string | number> => {
      const response = await fetch(`${world.origin}/search/${terms}`, { redirect: 'manual' });
      await response.text();
      return response.headers.get('location') ?? response.status;
    };
    const first = String((await draw('A beacon', bytes))['urls']);
    for (const prompt of ['A windmill by Gogh', 'маяк']) assert.equal((await draw(prompt, bytes))['urls'], first);
    for (const terms of ['beacon', 'image+windmill+gogh', encodeURIComponent('Маяк')]) {
      assert.equal(await search(terms), first, terms);
    }
    const { json } = await told(fetch(at(world, 'media?search=windmill')));
    assert.deepEqual(
      json.media.map(({ url }: { url: string }) => url),
      [first],
    );
    assert.equal((await told(remove(at(world, first.slice(1))))).status, 200);
    assert.equal(await search('windmill'), 404);
    const again = String((await draw('A pier', bytes))['urls']);
    assert.equal(await search('pier'), again);
    assert.equal(await search('windmill'), 404, 'what was deleted is forgotten');
  });

  test('words of any script lead to it, and its addresses lead there', async () => {
    const bytes = await picture(610, 20, '#00ff77');
    const shown = String((await draw('漢字 кошка', bytes))['urls']);
    assert.match(shown, /^\/media\/\d+_test-model\+%E6%BC%A2%E5%AD%97_%D0%BA/);
    const found = await fetch(`${world.origin}/search/${encodeURIComponent('КОШКА')}`, { redirect: 'manual' });
    assert.deepEqual([found.status, found.headers.get('location')], [302, shown]);
    const listed = await told(fetch(at(world, `media?search=${encodeURIComponent('КОШКА')}`)));
    assert.equal(listed.json.media[0].url, shown);
    assert.equal(listed.json.media[0].thumbnail, shown.replace('/media/', '/thumbnail/'));
    for (const route of ['media', 'images', 'thumbnail']) {
      const url = world.origin + shown.replace('/media/', `/${route}/`);
      assert.equal(await statusOf(url), 200, route);
      assert.equal(await statusOf(decodeURIComponent(url)), 200, route);
    }
    const { json } = await told(fetch(at(world, `media?search=${encodeURIComponent('漢字')}`)));
    assert.equal(json.media[0].name, decodeURIComponent(shown).slice('/media/'.length));
    assert.equal((await told(remove(at(world, shown.slice(1))))).status, 200);
    assert.equal(await statusOf(world.origin + shown), 404);
  });

  test('a listing shows all of them, page by page, searched and by kind', async () => {
    const names: string[] = [];
    for (const [index, colour] of ['#000011', '#000022', '#000033'].entries())
      names.push(String((await draw(`Listed ship ${index}`, await picture(500 + index, 10, colour)))['urls']));
    const list = async (query: Record<string, string>) => {
      const response = await fetch(at(world, `media?${new URLSearchParams(query)}`));
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const { status, json } = await told(response);
      assert.equal(status, 200, JSON.stringify(json));
      return json as { media: Record<string, unknown>[]; next: string | null };
    };
    const whole = await list({ search: 'listed SHIP' });
    assert.deepEqual(new Set(whole.media.map(({ url }) => decodeURIComponent(String(url)))), new Set(names));
    assert.equal(whole.next, null);
    const [entry] = whole.media;
    assert.match(String(entry?.['name']), /Listed_ship/);
    assert.deepEqual([entry?.['kind'], entry?.['mime_type']], ['image', 'image/png']);
    assert.ok(Math.abs(Date.parse(String(entry?.['created_at'])) - Date.now()) < 60_000);
    for (const [field, type] of [
      ['url', 'image/png'],
      ['thumbnail', 'image/webp'],
    ] as const) {
      const response = await fetch(world.origin + String(entry?.[field]));
      const bytes = await response.arrayBuffer();
      assert.equal(response.headers.get('content-type'), type);
      if (field === 'url') assert.equal(bytes.byteLength, entry?.['size']);
    }
    const seen: unknown[] = [];
    for (let before: string | null | undefined; before !== null; ) {
      const page: Awaited<ReturnType<typeof list>> = await list({
        search: 'listed+ship',
        limit: '1',
        ...(before === undefined ? {} : { before }),
      });
      seen.push(...page.media.map(({ name }) => name));
      before = page.next;
    }
    assert.deepEqual(
      seen,
      whole.media.map(({ name }) => name),
    );
    assert.deepEqual((await list({ search: 'listed', kind: 'video' })).media, []);
    await draw('Listed song', Buffer.from('RIFF\0\0\0\0WAVEfmt '));
    const [song, ...others] = (await list({ search: 'listed', kind: 'audio' })).media;
    assert.deepEqual([song?.['mime_type'], song?.['thumbnail'], others], ['audio/wav', null, []]);
    assert.ok((await list({})).media.length > 3);
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'kind=text', 'before=x']) {
      const { status, code, message } = await told(fetch(at(world, `media?${query}`)));
      assert.deepEqual([status, code], [400, 'invalid_request'], query);
      assert.match(message, new RegExp(query.split('=')[0] ?? ''), query);
    }
  });

  test('what is in a file of the question is no part of the name', async () => {
    await upload(world, 'private', ['diary.txt', 'Nobody shall read this.']);
    const content = [
      { bucket_id: 'private', url: '/files/private' },
      { type: 'text', text: 'Paint the mood of this' },
    ];
    const bytes = await picture(31, 7, '#998877');
    world.answers({ images: [inline(bytes)] });
    const media = mediaOf(await converse(world, { messages: [{ role: 'user', content }] }));
    assert.match(JSON.stringify(lastBody(world)), /Nobody shall read this/);
    assert.match(String(media?.['urls']), /\/media\/\d+_test-model\+Paint_the_mood_of_this_/);
  });

  test('one of them can be deleted, and is gone in every form', async () => {
    const bytes = await picture(700, 300, '#771100');
    const name = String((await draw('Short-lived', bytes))['urls']).slice('/media/'.length);
    const url = at(world, `media/${encodeURIComponent(name)}`);
    assert.equal(await statusOf(url, { method: 'DELETE', headers: { origin: 'https://example.com' } }), 403);
    assert.equal((await told(remove(url))).status, 200);
    for (const route of ['media', 'images', 'thumbnail'])
      assert.equal(await statusOf(`${world.origin}/${route}/${name}`), 404, route);
    const { json } = await told(fetch(at(world, 'media?search=short-lived')));
    assert.deepEqual(json.media, []);
    for (const wrong of [name, 'none.png', 'x.txt', '..%2f..%2fsluice.png', '.png', 'a%2fb.png', '%00.png'])
      assert.equal((await told(remove(at(world, `media/${wrong}`)))).status, 404, wrong);
    // The same content may come again, under a name with the second in which it came.
    const again = String((await draw('Short-lived', bytes))['urls']);
    assert.equal(await statusOf(world.origin + again), 200);
  });
});

describe('buckets in a conversation', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  let bytes: Buffer;
  before(async () => {
    world = await openKept();
    bytes = await picture(7, 5, '#00aa00');
    await upload(world, 'talk', ['tides.txt', 'High water is at noon.'], ['green.png', bytes, 'image/png']);
  });
  after(() => world.close());

  test('documents become text and media inline media, in both dialects', async () => {
    const url = '/backend-api/v2/files/talk';
    const messages = [
      { role: 'user', content: [] },
      {
        role: 'user',
        content: [
          // Some clients send null for what they leave out.
          { bucket_id: 'talk', url, type: null, name: null },
          { bucket_id: 'talk', url: '/files/talk/media/green.png', name: 'green.png', width: 7, height: 5 },
          { type: 'image_url', image_url: { url: `${world.origin}/files/talk/media/green.png?size=large#top` } },
          { type: 'text', text: 'When is high water?' },
        ],
      },
    ];
    const data = `data:image/png;base64,${bytes.toString('base64')}`;
    const check = (): void => {
      const { messages: sent } = lastBody(world);
      assert.equal(sent.length, 1);
      const parts = sent[0]?.content as { type: string; text?: string; image_url?: { url: string } }[];
      assert.equal(parts[0]?.text?.trimEnd(), '<!-- File: tides.txt -->\nHigh water is at noon.\n<!-- End -->');
      assert.deepEqual(
        parts.slice(1).map(({ text, image_url: image }) => text ?? image?.url),
        [data, data, 'When is high water?'],
      );
    };
    assert.equal(contentOf(await converse(world, { messages })), 'Hello world');
    check();
    const answer = await told(postJson(`${world.origin}/v1/chat/completions`, { model: 'acme/test-model', messages }));
    assert.equal(answer.status, 200, answer.message);
    check();
  });

  test('an empty text beside a file of a bucket does not stand for it', async () => {
    const said = (content: readonly object[]) =>
      converse(world, { messages: [{ role: 'user', content: [...content, { type: 'text', text: 'What is it?' }] }] });
    await said([{ bucket_id: 'talk', name: 'green.png', text: '' }]);
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    const question = { type: 'text', text: 'What is it?' };
    assert.deepEqual(lastBody(world).messages[0]?.content, [{ type: 'image_url', image_url: { url } }, question]);
    await said([{ bucket_id: 'talk', text: '' }]);
    assert.match(JSON.stringify(lastBody(world).messages[0]?.content), /High water is at noon/);
    await said([{ bucket_id: 'talk', name: 'green.png', text: 'A green field.' }]);
    assert.match(JSON.stringify(lastBody(world).messages[0]?.content), /A green field\./);
    assert.doesNotMatch(JSON.stringify(lastBody(world).messages[0]?.content), /image_url/);
  });

  test('an empty name is none: all of the bucket is meant', async () => {
    const content = [
      { bucket_id: 'talk', url: '/backend-api/v2/files/talk', name: '' },
      { type: 'text', text: 'What is it?' },
    ];
    assert.equal(contentOf(await converse(world, { messages: [{ role: 'user', content }] })), 'Hello world');
    assert.match(JSON.stringify(lastBody(world).messages[0]?.content), /High water is at noon/);
  });

  test('a picture of a bucket is seen in the detail that was asked for', async () => {
    const picture = { type: 'image_url', image_url: { url: '/files/talk/media/green.png', detail: 'low' } };
    await converse(world, { messages: [{ role: 'user', content: [picture, { type: 'text', text: 'What is it?' }] }] });
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    const shown = { type: 'image_url', image_url: { url, detail: 'low' } };
    assert.deepEqual(lastBody(world).messages[0]?.content, [shown, { type: 'text', text: 'What is it?' }]);
  });

  test('what would be too much in all is refused before anything is sent, be it the same one often', async () => {
    const size = 17 * 1024 * 1024;
    const film = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), Buffer.alloc(size)]);
    await upload(world, 'large', ['tides.txt', 'tide '.repeat(size / 5)], ['film.mp4', film, 'video/mp4']);
    const before = world.upstream.chats.length;
    for (const part of [
      { bucket_id: 'large' },
      { bucket_id: 'large', name: 'film.mp4' },
      { type: 'video_url', video_url: { url: '/files/large/media/film.mp4' } },
    ]) {
      const messages = Array(4).fill({ role: 'user', content: [part] });
      const answer = await told(postJson(at(world, 'conversation'), { provider: 'acme', messages }));
      assert.equal(answer.status, 413, JSON.stringify(part));
      assert.match(answer.message, /more than 67108864 bytes in all/);
    }
    assert.equal(world.upstream.chats.length, before);
  });

  test('what is not there is refused before anything is sent', async () => {
    const before = world.upstream.chats.length;
    for (const part of [
      { bucket_id: 'missing', url: 'x' },
      { bucket_id: 'talk', name: 'none.png', text: '' },
      { bucket_id: '', url: 'x' },
      { bucket_id: '', url: 'x', name: 'none.png' },
      { bucket_id: '../talk', url: 'x' },
      { bucket_id: '---', url: 'x' },
      { bucket_id: 'talk', url: 'x', name: 'none.png' },
      { type: 'image_url', image_url: { url: '/files/talk/media/none.png' } },
    ]) {
      const answer = await told(
        postJson(
          at(world, 'conversation'),
          { provider: 'acme', messages: [{ role: 'user', content: [part] }] },
          { 'x-user': 'careless' },
        ),
      );
      assert.equal(answer.status, 404, JSON.stringify(part));
      assert.match(answer.message, /There is no bucket '|has no media file 'none.png'/);
    }
    assert.equal(world.upstream.chats.length, before);
    // Nor is it a failure of the provider's.
    const refused = await eventually('all are in the log', async () => {
      const { json } = await told(fetch(at(world, 'requests?status=404&user=careless')));
      return json.total === 8 && json.requests;
    });
    for (const { provider, attempts, failed_attempts } of refused)
      assert.deepEqual([provider, attempts, failed_attempts], [null, 0, []]);
  });

  test('a message whose buckets hold no text is left out', async () => {
    await upload(world, 'pictures', ['green.png', bytes, 'image/png']);
    const empty = { role: 'user', content: [{ bucket_id: 'pictures', url: 'x' }] };
    await converse(world, { messages: [empty, { role: 'user', content: 'And now?' }] });
    assert.deepEqual(lastBody(world).messages, [{ role: 'user', content: 'And now?' }]);
    // A call without its result would be refused.
    const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }];
    const called = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: null, tool_calls },
    ];
    await converse(world, { messages: [...called, { ...empty, role: 'tool', tool_call_id: 'call_1' }] });
    assert.deepEqual(lastBody(world).messages[2], { role: 'tool', tool_call_id: 'call_1', content: '' });
    const answer = await told(postJson(at(world, 'conversation'), { provider: 'acme', messages: [empty] }));
    assert.deepEqual([answer.status, answer.code], [400, 'invalid_request']);
    assert.match(answer.message, /no text in the buckets/);
  });
});
