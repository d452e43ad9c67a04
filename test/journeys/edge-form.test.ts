import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Turns } from '../../src/http/edge/turns.ts';
import { eventually } from '../support/eventually.ts';
import { picture } from '../support/pictures.ts';
import { dial, listen } from '../support/raw-http.ts';
import { assertError, CHATS, HI, openWorld, type World } from './edge-world.ts';

const { path: PATH } = CHATS[0];
const JSON_PART = `--x\r\ncontent-disposition: form-data; name="json"\r\n\r\n${JSON.stringify(HI)}\r\n`;
const END = '--x--\r\n';
const FORM = 'multipart/form-data; boundary=x';

const part = (header: string, content: string | Buffer = 'Hi'): string =>
  `--x\r\n${header}\r\n\r\n${content.toString('latin1')}\r\n`;
const field = (name: string, content: string): string =>
  part(`content-disposition: form-data; name="${name}"`, content);
const file = (filename: string, content: string | Buffer, name = 'files'): string =>
  part(`content-disposition: form-data; name="${name}"; filename="${filename}"`, content);
const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join('');

/** Forms that are wrong, or hold no request. */
const WRONG: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
  'no boundary': ['multipart/form-data', JSON_PART + END],
  'an empty boundary': ['multipart/form-data; boundary=', JSON_PART + END],
  'an empty quoted boundary': ['multipart/form-data; boundary=""', JSON_PART + END],
  'a boundary of spaces': ['multipart/form-data; boundary="  "', JSON_PART + END],
  'another boundary': ['multipart/form-data; boundary=y', JSON_PART + END],
  'a longer boundary': ['multipart/form-data; boundary=xx', JSON_PART + END],
  'a huge boundary': [`multipart/form-data; boundary=${'x'.repeat(10_000)}`, JSON_PART + END],
  'a boundary that is no text': ['multipart/form-data; boundary=\xff\xfe', JSON_PART + END],
  nothing: [FORM, ''],
  'a line feed': [FORM, '\n'],
  'no part': [FORM, END],
  'an open boundary': [FORM, '--x'],
  'an open header': [FORM, '--x\r\ncontent-disposition: form-data; name="json"'],
  'an open part': [FORM, JSON_PART],
  'an open file': [FORM, JSON_PART + file('a.png', 'Hi').slice(0, -3)],
  'an open part without a name': [FORM, `${JSON_PART}--x\r\ncontent-disposition: form-data\r\n\r\nHi`],
  'an open part of another kind': [FORM, `${JSON_PART}--x\r\ncontent-disposition: attachment\r\n\r\nHi`],
  'lines that end with LF': [FORM, (JSON_PART + END).replaceAll('\r\n', '\n')],
  'lines that end with CR': [FORM, (JSON_PART + END).replaceAll('\r\n', '\r')],
  'a part without a name': [FORM, part('content-disposition: form-data', JSON.stringify(HI)) + END],
  'a part without a disposition': [FORM, part('content-type: application/json', JSON.stringify(HI)) + END],
  'a part without a header': [FORM, `--x\r\n\r\n${JSON.stringify(HI)}\r\n${END}`],
  'a part of another kind': [FORM, part('content-disposition: attachment; name="json"', JSON.stringify(HI)) + END],
  'another name': [FORM, field('JSON', JSON.stringify(HI)) + END],
  base64: [
    FORM,
    part(
      'content-disposition: form-data; name="json"\r\ncontent-transfer-encoding: base64',
      Buffer.from(JSON.stringify(HI)).toString('base64'),
    ) + END,
  ],
  'another letter set': [
    FORM,
    part(
      'content-disposition: form-data; name="json"\r\ncontent-type: text/plain; charset=utf-16le',
      Buffer.from(JSON.stringify(HI), 'utf16le'),
    ) + END,
  ],
  'a form in the form': [
    FORM,
    `${part('content-disposition: form-data; name="json"\r\ncontent-type: multipart/mixed; boundary=y', `--y\r\n\r\n${JSON.stringify(HI)}\r\n--y--`)}${END}`,
  ],
  'a name of 64 KB': [FORM, JSON_PART + field('n'.repeat(65_536), 'Hi') + END],
  'a name of 300 bytes': [FORM, JSON_PART + field('n'.repeat(300), 'Hi') + END],
  'a file name of 64 KB': [FORM, JSON_PART + file(`${'n'.repeat(65_536)}.png`, 'Hi') + END],
  'a file name of 300 bytes': [FORM, JSON_PART + file(`${'n'.repeat(300)}.png`, 'Hi') + END],
  '1,000 parts': [FORM, JSON_PART + times(1_000, (index) => file(`${index}.png`, 'Hi')) + END],
  '10,000 fields': [FORM, JSON_PART + times(10_000, (index) => field(`f${index}`, 'Hi')) + END],
  '10,000 parts without a name': [FORM, JSON_PART + times(10_000, () => part('x: y')) + END],
};

/** Forms with oddities that do no harm: the request in them is answered, and these parts are passed over. */
const ODD: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
  'words before and behind': [FORM, `Hello\r\n${JSON_PART}${END}Good bye\r\n--x\r\n`],
  'a quoted boundary': ['multipart/form-data; boundary="x"', JSON_PART + END],
  'upper case': ['Multipart/Form-Data; BOUNDARY=x', JSON_PART + END],
  'a charset behind': ['multipart/form-data; boundary=x; charset=utf-8', JSON_PART + END],
  'a boundary of a regular expression': [
    'multipart/form-data; boundary=(a+)+$',
    (JSON_PART + END).replaceAll('--x', '--(a+)+$'),
  ],
  'no line end at the end': [FORM, (JSON_PART + END).trimEnd()],
  'a part without a name beside': [FORM, JSON_PART + part('content-disposition: form-data') + END],
  'a part without a header beside': [FORM, `${JSON_PART}--x\r\n\r\nHi\r\n${END}`],
  'an unknown charset': [
    FORM,
    JSON_PART + part('content-disposition: form-data; name="a"\r\ncontent-type: text/plain; charset=\0x') + END,
  ],
  'an encoded name': [FORM, JSON_PART + part("content-disposition: form-data; name*=utf-8''%ff%00%zz") + END],
  'a name in an unknown charset': [
    FORM,
    JSON_PART + part("content-disposition: form-data; name*=x-none'en'a; filename*=x-none'en'a") + END,
  ],
  'a file name of quotes': [FORM, JSON_PART + file('\\"\\"\\\\', 'Hi') + END],
  'an empty file': [FORM, JSON_PART + file('a.png', '') + END],
  'a text that is called a picture': [FORM, JSON_PART + file('a.png', 'Hi') + END],
  'an empty file name': [FORM, JSON_PART + file('', 'Hi') + END],
  'names of prototypes': [
    FORM,
    JSON_PART + field('__proto__', 'x') + field('constructor', 'x') + file('__proto__', 'x', '__proto__') + END,
  ],
  'fields of no use': [FORM, JSON_PART + times(90, (index) => field(`f${index}`, 'Hi')) + END],
  'a header of 200 KB beside': [
    FORM,
    JSON_PART + part(`content-disposition: form-data; name="a"\r\nx: ${'y'.repeat(200_000)}`) + END,
  ],
  documents: [FORM, JSON_PART + file('a.html', '<script>') + file('a.exe', 'MZ') + file('a', 'Hi') + END],
  'files under another name': [FORM, JSON_PART + file('a.png', 'Hi', 'file') + END],
};

const TRAVERSALS = [
  '../../../../tmp/evil.png',
  '..\\..\\evil.png',
  '/etc/cron.d/evil.png',
  'C:\\evil.png',
  '%2e%2e%2fevil.png',
  '....//evil.png',
  'evil.png\0.txt.png',
  '.png',
  '..png',
  '<script>.png',
  "';.png",
  '\u202egnp.png',
];

describe('forms', () => {
  let world: World;
  before(async () => {
    world = await openWorld({
      yaml: 'limits: { uploadFileBytes: 300000, uploadRequestBytes: 500000, chatBodyBytes: 100000, clientBodyIdleMs: 2000 }',
    });
  });
  after(() => world.close());

  const send = (type: string, body: string | Buffer, path: string = PATH) =>
    world.ask({
      method: 'POST',
      path,
      headers: { 'content-type': type },
      body: typeof body === 'string' ? Buffer.from(body, 'latin1') : body,
    });

  test(`${Object.keys(WRONG).length} wrong forms`, async () => {
    for (const [name, [type, body]] of Object.entries(WRONG)) {
      assertError(await send(type, body), [400, 413], name);
    }
    assert.equal(world.upstream.chats.length, 0);
    await world.isWell();
  });

  test(`${Object.keys(ODD).length} odd forms`, async () => {
    for (const [name, [type, body]] of Object.entries(ODD)) {
      const answer = await send(type, body);
      assert.equal(answer.status, 200, `${name}: ${answer.text}`);
      assert.equal(world.last.prompt, 'Hi', name);
      assert.equal(world.last.images, 0, name);
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  test('names of files are no paths', async () => {
    const bytes = await picture('#c03020');
    for (const filename of TRAVERSALS) {
      const answer = await send(FORM, JSON_PART + file(filename, bytes) + END);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(world.last.images, 1, filename);
      assert.ok(!/evil|etc|tmp/.test(world.last.rawBody.toString()), world.last.rawBody.toString());
    }
  });

  test('what is too large', async () => {
    for (const [name, body] of Object.entries({
      file: JSON_PART + file('a.png', 'a'.repeat(200_001)) + END,
      'file of no use': JSON_PART + file('a', 'a'.repeat(200_001), 'other') + END,
      field: JSON_PART + field('a', 'a'.repeat(100_001)) + END,
      json: field('json', JSON.stringify({ ...HI, a: 'a'.repeat(100_001) })) + END,
      form: JSON_PART + times(3, (index) => file(`${index}.png`, 'a'.repeat(190_000))) + END,
    })) {
      const answer = await send(FORM, body);
      assertError(answer, 413, name);
    }
    assert.equal((await send(FORM, JSON_PART + file('a.png', 'a'.repeat(200_000)) + END)).status, 200);
  });

  test('which part it is', async () => {
    for (const [param, status, message, body] of [
      ['files', 413, /^The file is larger than 200000 bytes/, file('a.png', 'a'.repeat(200_001))],
      ['a', 413, /^The part 'a' is larger than 100000 bytes/, field('a', 'a'.repeat(100_001))],
      ['a', 413, /^The part 'a' is larger than 100000 bytes/, field('a', 'a'.repeat(300_000))],
      ['a', 400, /^The part 'a' is not valid UTF-8/, field('a', '\xff')],
      ['files', 400, /^A file name has more than 255 bytes/, file(`${'n'.repeat(256)}.png`, 'Hi')],
      ['n'.repeat(64), 400, /^The name of a part has more than 255 bytes/, field('n'.repeat(256), 'Hi')],
      [null, 400, /^The form has more than 100 parts/, times(101, (index) => field(`f${index}`, 'Hi'))],
      [null, 413, /^The request is larger than 400000 bytes/, times(3, () => file('a.png', 'a'.repeat(190_000)))],
    ] as const) {
      const error = assertError(await send(FORM, body + JSON_PART + END), status, String(message));
      assert.equal(error.param, param);
      assert.match(error.message, message);
    }
  });

  test('by its length, before it is sent', async () => {
    const socket = await dial(world.gateway.origin);
    socket.write(`POST ${PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${FORM}\r\ncontent-length: 400001\r\n\r\n`);
    const { text } = await listen(socket, 5_000);
    assert.match(text, /^HTTP\/1\.1 413 /);
  });

  test('one with a file by the limit of files, with room for its fields', async () => {
    await using small = await openWorld({ yaml: 'limits: { uploadFileBytes: 40 }' });
    const most = 40 + 1024 * 1024;
    for (const path of ['/v1/files', '/v1/audio/transcriptions', '/api/markitdown']) {
      const socket = await dial(small.gateway.origin);
      const type = `content-type: ${FORM}\r\n`;
      socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${type}content-length: ${most + 1}\r\n\r\n`);
      const { text } = await listen(socket, 5_000);
      assert.match(text, new RegExp(`The request is larger than ${most} bytes`), path);
    }
  });

  test('the limit of files is none for fields', async () => {
    await using small = await openWorld({ yaml: 'limits: { uploadFileBytes: 40 }' });
    const ask = (body: string) => small.ask({ method: 'POST', path: PATH, headers: { 'content-type': FORM }, body });
    const answer = await ask(JSON_PART + END);
    assert.equal(answer.status, 200, answer.text);
    assertError(await ask(JSON_PART + file('a.png', 'a'.repeat(41)) + END), 413);
  });

  test('large ones take turns with large bodies, and stand still meanwhile without harm', async (context) => {
    await using large = await openWorld({ yaml: 'limits: { clientBodyIdleMs: 3000 }' });
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const asked: { readonly turns: Turns; readonly size: number }[] = [];
    const { take } = Turns.prototype;
    context.mock.method(Turns.prototype, 'take', async function (this: Turns, size: number) {
      asked.push({ turns: this, size });
      await gate;
      return take.call(this, size);
    });
    const form = JSON_PART + file('a.png', 'a'.repeat(1_500_000)) + END;
    const json = { ...HI, messages: [{ role: 'user', content: 'a'.repeat(1_500_000) }] };
    const answers = [
      large.ask({ method: 'POST', path: PATH, headers: { 'content-type': FORM }, body: form }),
      large.ask({ path: CHATS[1].path, body: json }),
    ];
    await eventually('both wait', () => asked.length === 2);
    const leaving = await dial(large.gateway.origin);
    leaving.write(
      `POST ${PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${FORM}\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    // Without its end: all of it may be on the way already when the client leaves, and would be answered.
    leaving.write(`${form.length.toString(16)}\r\n${form}\r\n`);
    await eventually('a third waits, whose size is known to nobody', () => asked.length === 3);
    leaving.destroy();
    const [ofForm, ofJson, ofUnknown] = asked.toSorted((a, b) => a.size - b.size);
    assert.ok(ofForm && ofJson && ofUnknown);
    assert.ok(
      asked.every(({ turns }) => turns === ofForm.turns),
      'one budget for all of them',
    );
    assert.ok(ofForm.size > 1_500_000 && ofJson.size > 1_500_000 && ofUnknown.size > 10_000_000);
    // A client that is silent from now on is cut: as long as this they are waiting at least.
    const silent = await dial(large.gateway.origin);
    silent.write(
      `POST ${PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${FORM}\r\ncontent-length: 1000\r\n\r\n${JSON_PART}`,
    );
    assert.match((await listen(silent, 30_000)).text, /^HTTP\/1\.1 408 /);
    assert.equal(large.upstream.chats.length, 0, 'nothing is read before its turn');
    open();
    for (const { status, text } of await Promise.all(answers)) assert.equal(status, 200, text);
    assert.equal(large.upstream.chats.length, 2);
  });

  test('large ones that stand still hold no other large one up', async () => {
    await using patient = await openWorld({ yaml: 'limits: { clientBodyIdleMs: 60000 }' });
    const half = JSON_PART + file('a.png', 'a'.repeat(1_000));
    const slow = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const socket = await dial(patient.gateway.origin);
        socket.write(
          `POST ${PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${FORM}\r\ncontent-length: 9000000\r\n\r\n${half}`,
        );
        return socket;
      }),
    );
    const body = JSON_PART + file('a.png', 'a'.repeat(1_500_000)) + END;
    const answer = await patient.ask({ method: 'POST', path: PATH, headers: { 'content-type': FORM }, body });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(
      slow.every((socket) => !socket.closed),
      'it had to wait for them',
    );
    for (const socket of slow) socket.destroy();
  });

  test('what is compressed', async () => {
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'identity, gzip', 'x']) {
      const answer = await world.ask({
        method: 'POST',
        path: PATH,
        headers: { 'content-type': FORM, 'content-encoding': encoding },
        body: gzipSync(JSON_PART + END),
      });
      assertError(answer, 415, encoding);
    }
  });

  test('forms elsewhere', async () => {
    for (const path of ['/v1/chat/completions', '/api/mock/chat/completions', '/v1/models/test-model']) {
      assertError(await send(FORM, JSON_PART + END, path), 415, path);
    }
    assertError(await send('multipart/mixed; boundary=x', JSON_PART + END), 415);
  });

  test('an upload that breaks off or stops in the middle', async () => {
    const { length } = world.upstream.chats;
    const head = `POST ${PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${FORM}\r\ncontent-length: 100000\r\n\r\n`;
    const half = JSON_PART + file('a.png', 'a'.repeat(1_000));
    for (const start of [half, half.slice(0, -5), JSON_PART, JSON_PART.slice(0, 30), '--', '']) {
      const broken = await dial(world.gateway.origin);
      broken.write(head + start);
      await new Promise((resolve) => setTimeout(resolve, 20));
      broken.destroy();
    }
    const stopped = await dial(world.gateway.origin);
    stopped.write(head + half.slice(0, -5));
    const { text, closed } = await listen(stopped, 5_000);
    assert.match(text, /^HTTP\/1\.1 408 [\s\S]*"request_timeout"/);
    assert.ok(closed);
    assert.equal(world.upstream.chats.length, length);
    await world.isWell();
  });
});

describe('addresses of media in a form', () => {
  let hits = 0;
  const canary = createServer((_request, response) => response.end());
  canary.on('connection', () => {
    hits += 1;
  });
  let world: World;
  let port = 0;
  before(async () => {
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
    port = (canary.address() as AddressInfo).port;
    world = await openWorld();
  });
  after(async () => {
    await world.close();
    canary.close();
    canary.closeAllConnections();
  });

  const send = (url: string) =>
    world.ask({
      method: 'POST',
      path: PATH,
      headers: { 'content-type': FORM },
      body: Buffer.from(
        JSON_PART + part('content-disposition: form-data; name="media_url"', Buffer.from(url)) + END,
        'latin1',
      ),
    });

  /** Hosts that are this machine or its network, in all the spellings that some parser understands. */
  const HOSTS = [
    ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'ip6-localhost'],
    ...['127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '127.255.255.254', '0177.0.0.1', '0177.1', '017700000001'],
    ...['0x7f.0.0.1', '0x7f.1', '0x7f000001', '0X7F000001', '2130706433', '00000177.0.0.1', '127.0.0.0x1'],
    ...['%31%32%37.0.0.1', '127%2e0%2e0%2e1', '①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', 'ⓛocalhost'],
    ...['0', '0.0.0.0', '0.1.2.3', '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]'],
    ...[
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::FFFF:10.0.0.1]',
      '[::ffff:0:127.0.0.1]',
      '[0:0:0:0:0:ffff:7f00:1]',
    ],
    ...['[64:ff9b::7f00:1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
    ...['[2001:0:7f00:1::]', '[2002:a00:1::]', '[2001:db8::1]', '[100::1]', '[5f00::1]', '[3fff::1]'],
    ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '169.254.169.254', '169.254.0.1', '100.64.0.1'],
    ...['0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '[::ffff:169.254.169.254]', '[fd00:ec2::254]'],
    ...['[fe80::1]', '[fe80::1%25eth0]', '[fc00::1]', '[fd12:3456::1]', '[fec0::1]', '[ff02::1]'],
    ...['192.0.0.1', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
    ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...['does-not-exist.invalid', 'metadata.google.internal', 'kubernetes.default.svc', 'router.local'],
  ];

  test(`${HOSTS.length} spellings of hosts that are not public`, async () => {
    for (const host of HOSTS) {
      for (const url of [`http://${host}:${port}/a.png`, `https://${host}/a.png`]) {
        const { param, message } = assertError(await send(url), 400, url);
        assert.equal(param, 'media_url', url);
        assert.ok(message.includes(url), message);
      }
    }
    assert.equal(hits, 0);
    assert.equal(world.upstream.chats.length, 0);
  });

  // The form is obsolete, and still read by some: RFC 4291 §2.5.5.1.
  test('an IPv4 address written into the last bits of an IPv6 one', async () => {
    for (const host of ['[::127.0.0.1]', '[::7f00:1]', '[::10.0.0.1]', '[::a9fe:a9fe]']) {
      assertError(await send(`http://${host}:${port}/a.png`), 400, host);
    }
  });

  test('what is no address', async () => {
    for (const url of [
      '',
      ' ',
      'x',
      '/a.png',
      'a.png',
      '//127.0.0.1/a.png',
      'http://',
      'http:///',
      'http://:80/',
      'http://[::1/',
      'http://999.999.999.999/',
      'http://127.0.0.1:99999/',
      'file:///etc/passwd',
      'ftp://127.0.0.1/',
      'gopher://127.0.0.1:6379/_PING',
      'data:image/png;base64,AAAA',
      'javascript:alert(1)',
      'ws://127.0.0.1/',
      'blob:http://127.0.0.1/x',
      `http://127.0.0.1:${port}#@8.8.8.8/`,
      `http://127.0.0.1:${port}\\@8.8.8.8/`,
      `http://8.8.8.8@127.0.0.1:${port}/`,
      `http://8.8.8.8:80@127.0.0.1:${port}/`,
      'http://user@8.8.8.8/',
      'http://user:password@8.8.8.8/',
      `http:127.0.0.1:${port}/`,
      `http:\\\\127.0.0.1:${port}\\`,
      ` http://127.0.0.1:${port}/`,
      `ht\ntp://127.0.0.1:${port}/`,
      `hTTp://127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}/${'a'.repeat(10_000)}`,
    ]) {
      const { param } = assertError(await send(url), 400, JSON.stringify(url));
      assert.equal(param, 'media_url', url);
    }
    assert.equal(hits, 0);
    assert.equal(world.upstream.chats.length, 0);
  });

  test('a public one passes on, unfetched', async () => {
    for (const host of ['8.8.8.8', '[2001:4860:4860::8888]', '134744072']) {
      const answer = await send(`https://${host}/a.png`);
      assert.equal(answer.status, 200, answer.text);
      assert.ok(world.last.rawBody.includes(`https://${host}/a.png`));
      assert.equal(world.last.images, 1);
    }
  });
});
