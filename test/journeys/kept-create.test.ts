import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import { at, type KeptWorld, lastBody, openKept, remove, told } from './kept-world.ts';

const image = async (background: string): Promise<{ mimeType: string; data: string }> => {
  const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background } })
    .png()
    .toBuffer();
  return { mimeType: 'image/png', data: bytes.toString('base64') };
};

describe('create over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept('search: { engine: none }');
  });
  after(() => world.close());

  async function ask(query: Record<string, string>, headers: Record<string, string> = {}) {
    const response = await fetch(
      at(world, `create?${new URLSearchParams({ prompt: 'Hi', provider: 'acme', ...query })}`),
      {
        redirect: 'manual',
        headers,
      },
    );
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  test('plain text as it comes, without what was thought', async () => {
    world.answers({ reasoning: ['Hmm', ' …'], text: ['Hello', ' world'] });
    const { status, headers, text } = await ask({});
    assert.deepEqual([status, text], [200, 'Hello world']);
    assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('content-length'), null);
    assert.deepEqual(lastBody(world).messages, [{ role: 'user', content: 'Hi' }]);
  });

  test('any other end than stop is marked', async () => {
    world.answers({ text: ['Hel'], finish: 'length' });
    assert.equal((await ask({})).text, 'Hel[length]');
  });

  test('a refusal is what there is to read', async () => {
    const event = (fields: object): string => `data: ${JSON.stringify({ choices: [{ index: 0, ...fields }] })}\n\n`;
    const said = [
      { delta: { refusal: 'I' } },
      { delta: { refusal: ' will not.' } },
      { delta: {}, finish_reason: 'stop' },
    ];
    world.answers({ raw: `${said.map(event).join('')}data: [DONE]\n\n` });
    for (const query of [{}, { filter_markdown: 'true' }]) {
      const { status, text } = await ask(query);
      assert.deepEqual([status, text], [200, 'I will not.']);
    }
  });

  test('model and provider: names, a list, another name', async () => {
    world.answers({ text: ['x'] });
    assert.equal((await ask({ model: 'other-model' })).text, 'x');
    assert.equal(lastBody(world)['model'], 'other-model');
    assert.equal((await ask({ provider: '', model: 'acme' })).text, 'x');
    assert.equal((await ask({ provider: 'acme acme' })).text, 'x');
    assert.equal((await ask({ provider: '', audio_provider: 'acme' })).status, 200);
    assert.equal((await ask({ provider: 'nobody' })).status, 404);
    assert.equal((await ask({ provider: '', model: 'no-such-model' })).status, 404);
  });

  test('refuses a request without a prompt, and two of one parameter', async () => {
    for (const path of ['create', 'create?prompt=', 'create?prompt=a&prompt=b', 'create?model=x'])
      assert.deepEqual((await told(fetch(at(world, path)))).status, 400, path);
  });

  test('a picture is the way to it, also where blocks of code are wanted', async () => {
    world.answers({ images: [await image('#123456')] });
    const { status, headers } = await ask({ filter_markdown: 'true' });
    assert.equal(status, 302);
    assert.match(headers.get('location') ?? '', /^\/media\/\S+\.png$/);
  });

  test('filter_markdown', async () => {
    const answer = 'See:\n```python\nprint(1)\n```\nand\n~~~json\n{"a": 1}\n~~~\n';
    world.answers({ text: [answer] });
    for (const [value, expected] of [
      ['true', 'print(1)'],
      ['1', 'print(1)'],
      ['json', '{"a": 1}'],
      ['xml,JSON', '{"a": 1}'],
      ['rust', ''],
      ['jso', ''],
      ['false', answer],
      ['0', answer],
      ['', answer],
    ] as const) {
      const { text, headers } = await ask({ filter_markdown: value });
      assert.equal(text, expected, value);
      if (expected !== answer) assert.equal(headers.get('content-length'), String(expected.length));
    }
    assert.equal((await ask({ json: 'true' })).text, 'print(1)');
    assert.equal((await ask({ filter_markdown: '', json: 'json' })).text, '{"a": 1}');
    world.answers({ text: ['no block'] });
    assert.equal((await ask({ filter_markdown: 'true' })).text, 'no block');
    assert.equal((await ask({ filter_markdown: 'python' })).text, '');
    assert.equal((await ask({ filter_markdown: '(((a+)+)+$' })).text, '');
  });

  test('filter_markdown: a block that begins at the end of a sentence', async () => {
    for (const [answer, filter, expected] of [
      ['Sure: ```python\nprint(1)\n```\nDone.', 'true', 'print(1)'],
      ['Sure: ```python\nprint(1)\n```\nand ```json\n{}\n```', 'json', '{}'],
      ['Sure: ```python\nprint(1)\n```', 'json', ''],
      // None of these is a block: without an end, without a language, code in a line.
      ['Write ```python\nand go on', 'true', 'Write ```python\nand go on'],
      ['It ends with ```\nHere:\n~~~js\nx\n~~~', 'true', 'x'],
      ['Say `a` and ```b\n~~~js\nx\n~~~', 'true', 'x'],
      ['Write ```a\n~~~js\nx\n~~~\nand ```b', 'true', 'x'],
    ] as const) {
      world.answers({ text: [answer] });
      assert.equal((await ask({ filter_markdown: filter })).text, expected, answer);
    }
  });

  test('web_search: words that mean no ask nobody; a search that fails fails nothing', async () => {
    world.answers({ text: ['x'] });
    for (const value of ['false', '0', 'no', '', 'true', 'tides']) {
      assert.equal((await ask({ web_search: value })).text, 'x', value);
      assert.equal(lastBody(world).messages.at(-1)?.content, 'Hi');
    }
  });

  test('audio asks for an answer that is spoken', async () => {
    world.answers({ text: ['x'] });
    await ask({ audio: '1' });
    assert.deepEqual(lastBody(world)['modalities'], ['text', 'audio']);
    await ask({ audio: 'false' });
    assert.equal(lastBody(world)['modalities'], undefined);
  });

  test('cache: the same parameters get the same answer, with its length', async () => {
    let count = 0;
    world.answers(() => ({ text: [`answer ${++count}`] }));
    const first = await ask({ cache: 'label' });
    assert.deepEqual([first.text, first.headers.get('content-length')], ['answer 1', '8']);
    const second = await ask({ cache: 'label' });
    assert.deepEqual([second.text, second.headers.get('content-length')], ['answer 1', '8']);
    assert.equal(second.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal((await ask({ cache: 'other' })).text, 'answer 2');
    assert.equal((await ask({ cache: 'label', prompt: 'Ho' })).text, 'answer 3');
    assert.equal((await ask({ cache: 'label', model: 'other-model' })).text, 'answer 4');
    assert.equal((await ask({ cache: 'label', filter_markdown: '1' })).text, 'answer 5');
    assert.equal((await ask({ cache: 'label', filter_markdown: '1' })).text, 'answer 5');
    assert.equal((await ask({ cache: 'label' }, { 'x-api-key': 'somebodys-key' })).text, 'answer 6');
    assert.equal((await ask({ cache: 'false' })).text, 'answer 7');
    assert.equal((await ask({ cache: 'label' })).text, 'answer 1');
    // What failed is not kept.
    world.answers({ status: 400, errorMessage: 'no' });
    assert.notEqual((await ask({ cache: 'failing' })).status, 200);
    world.answers({ text: ['well again'] });
    assert.equal((await ask({ cache: 'failing' })).text, 'well again');
    world.answers({ text: ['half'], cutAfter: 1 });
    await assert.rejects(ask({ cache: 'cut' }).then(({ status }) => assert.equal(status, 200)));
    world.answers({ text: ['whole'] });
    assert.equal((await ask({ cache: 'cut' })).text, 'whole');
  });

  test('errors before the first piece are statuses, later ones cut the body', async () => {
    for (const [status, expected] of [
      [401, 401],
      [404, 404],
      [400, 400],
    ] as const) {
      world.answers({ status, errorMessage: 'refused' });
      const { status: got, text } = await ask({});
      assert.equal(got, expected);
      assert.ok(JSON.parse(text).error.message.length > 0);
    }
    world.answers({ text: ['Hello', ' world', '!'], cutAfter: 2 });
    await assert.rejects(ask({}));
    world.answers({ text: [] });
    assert.deepEqual([(await ask({})).status, (await ask({})).text], [200, '']);
  });

  test('one picture: the way to the stored file', async () => {
    world.answers({ images: [await image('#ff0000')] });
    for (const query of [{}, { cache: 'picture' }, { cache: 'picture' }]) {
      const { status, headers } = await ask(query);
      assert.equal(status, 302);
      const location = headers.get('location') ?? '';
      assert.match(location, /^\/media\/\d+_test-model\+Hi_[0-9a-f]{16}\.png$/);
      assert.equal(headers.get('cache-control'), 'no-store');
      const stored = await fetch(world.origin + location);
      assert.deepEqual([stored.status, stored.headers.get('content-type')], [200, 'image/png']);
    }
  });

  test('a picture that was deleted is made anew, though its place was kept', async () => {
    world.answers({ images: [await image('#ffff00')] });
    const { headers } = await ask({ cache: 'deleted' });
    const name = (headers.get('location') ?? '').replace('/media/', '');
    assert.equal((await told(remove(at(world, `media/${name}`)))).status, 200);
    world.answers({ images: [await image('#00ffff')] });
    const again = await ask({ cache: 'deleted' });
    const stored = await fetch(world.origin + again.headers.get('location'));
    assert.deepEqual([again.status, stored.status], [302, 200]);
    await stored.arrayBuffer();
    const calls = world.upstream.chats.length;
    assert.equal((await ask({ cache: 'deleted' })).headers.get('location'), again.headers.get('location'));
    assert.equal(world.upstream.chats.length, calls, 'the new one is kept');
  });

  test('a kept picture is found again whatever letters its name has', async () => {
    world.answers({ images: [await image('#ff00ff')] });
    const query = { cache: 'letters', prompt: 'Zürich 日本' };
    const { status, headers } = await ask(query);
    assert.equal(status, 302);
    const location = headers.get('location') ?? '';
    assert.match(decodeURI(location), /_test-model\+Zurich_日本_[0-9a-f]{16}\.png$/);
    const calls = world.upstream.chats.length;
    assert.equal((await ask(query)).headers.get('location'), location);
    assert.equal(world.upstream.chats.length, calls, 'nothing was drawn anew');
  });

  test('several pictures: an address a line; a picture after words: text', async () => {
    const images = [await image('#00ff00'), await image('#0000ff')];
    world.answers({ images });
    const { status, text } = await ask({});
    assert.equal(status, 200);
    assert.match(text, /^\/media\/\S+\.png\n\/media\/\S+\.png\n$/);
    world.answers({ text: ['Here: '], images });
    for (const query of [{}, { cache: 'after words' }]) {
      assert.match((await ask(query)).text, /^Here: \n\/media\/\S+\n\/media\/\S+\n$/);
    }
    world.answers({ text: ['Here:', '\n'], images });
    assert.match((await ask({})).text, /^Here:\n\/media\/\S+\n\/media\/\S+\n$/);
  });

  test('never leads where a model says', async () => {
    for (const url of [
      'http://127.0.0.1:9/x.png',
      'https://evil.example/media/x.png',
      '//evil.example/x.png',
      '/media/../x',
      'javascript:alert(1)',
    ]) {
      world.answers({ text: [url] });
      assert.equal((await ask({})).status, 200);
      const chunk = { choices: [{ index: 0, delta: { images: [{ type: 'image_url', image_url: { url } }] } }] };
      const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
      world.answers({ raw: `data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n` });
      const { status, headers } = await ask({});
      assert.equal(headers.get('location'), null, url);
      assert.ok(status === 200 || status >= 500, `${status}`);
    }
  });
});
