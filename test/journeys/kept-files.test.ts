import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { crc32, deflateRawSync } from 'node:zlib';
import { EventSource } from 'eventsource';
import sharp from 'sharp';
import { writeZip } from '../../src/documents/write-zip.ts';
import {
  at,
  eventually,
  filesBelow,
  type KeptWorld,
  openKept,
  pick,
  postJson,
  remove,
  statusOf,
  told,
  upload,
} from './kept-world.ts';

const DOCUMENTS = path.join(import.meta.dirname, '../fixtures/documents');
const document = (name: string): Buffer => readFileSync(path.join(DOCUMENTS, name));

function png(width: number, height: number): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: '#c03020' } })
    .png()
    .toBuffer();
}

describe('buckets over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  const textOf = async (id: string, query = ''): Promise<string> => {
    const response = await fetch(at(world, `files/${id}${query}`));
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    return response.text();
  };

  test('takes documents and media, and tells what became of each', async () => {
    const answer = await upload(
      world,
      'first',
      ['notes.txt', '  The tide table.\n\n'],
      ['readme.MD', '# Read me'],
      ['writer.pdf', document('writer.pdf'), 'application/pdf'],
      ['pandoc.docx', document('pandoc.docx')],
      ['mixed.zip', document('mixed.zip')],
      ['red.png', await png(640, 320), 'image/png'],
      ['virus.exe', 'MZ'],
    );
    assert.equal(answer.bucket_id, 'first');
    assert.deepEqual(answer.files.slice(0, 4), ['notes.txt', 'readme.MD', 'writer.pdf.md', 'pandoc.docx.md']);
    assert.equal(answer.files.filter((name) => name.startsWith('mixed.zip_')).length, 3);
    assert.deepEqual(answer.media, [{ name: 'red.png', width: 640, height: 320 }]);
    assert.deepEqual(
      answer.rejected.map(({ name }) => name),
      ['mixed.zip/picture.png', 'virus.exe'],
    );
    for (const { reason } of answer.rejected) assert.ok(reason.length > 5);

    const text = await textOf('first');
    assert.ok(
      text.startsWith('<!-- File: notes.txt -->\nThe tide table.\n<!-- End -->\n\n<!-- File: readme.MD -->\n'),
      text,
    );
    assert.match(text, /<!-- File: writer\.pdf\.md -->\n# Letter about the quays/);
    assert.match(text, /<!-- File: mixed\.zip_notes_Letter\.DOCX\.md -->/);
  });

  test('a second upload adds, and reading shows it at once', async () => {
    await upload(world, 'again', ['a.txt', 'one']);
    assert.match(await textOf('again'), /one/);
    const answer = await upload(world, 'again', ['b.txt', 'two'], ['a.txt', 'three'], ['a.txt', 'four']);
    assert.deepEqual(answer.files, ['b.txt', 'a-2.txt', 'a-3.txt']);
    const names = [...(await textOf('again')).matchAll(/File: (\S+) -->\n(\w+)/g)].map((found) => found.slice(1));
    assert.deepEqual(names, [
      ['a.txt', 'one'],
      ['b.txt', 'two'],
      ['a-2.txt', 'three'],
      ['a-3.txt', 'four'],
    ]);
  });

  test('names are cleaned, keep their extension, and stay apart', async () => {
    const long = `${'x'.repeat(150)}.txt`;
    const { files, media, rejected } = await upload(
      world,
      'names',
      ['../../etc/passwd.txt', '1'],
      ['a b.txt', '2'],
      ['a!b.txt', '3'],
      ['a_b.txt', '4'],
      ['C:\\boot.txt', '5'],
      ['%2e%2e%2fup.txt', '6'],
      [long, '7'],
      ['---', '8'],
      ['blob', await png(8, 8), 'image/png'],
      ['package-lock.json', '{}'],
    );
    assert.deepEqual(files.slice(0, 6), ['passwd.txt', 'a_b.txt', 'a_b-2.txt', 'a_b-3.txt', 'boot.txt', 'up.txt']);
    assert.equal(files[6], `${'x'.repeat(96)}.txt`);
    assert.deepEqual(media, [{ name: 'file.png', width: 8, height: 8 }]);
    assert.equal(rejected.length, 2);
    const inside = readdirSync(path.join(world.folder, 'data'), { recursive: true }).map(String);
    assert.ok(!inside.some((name) => /passwd|boot\.txt|up\.txt/.test(name)), 'bytes stand under names of ours');
    assert.ok(!existsSync('/etc/passwd.txt'));
  });

  test('a pasted film without a name is no song', async () => {
    const mpeg = Buffer.concat([Buffer.from([0, 0, 1, 0xba]), Buffer.alloc(64)]);
    const { media, rejected } = await upload(world, 'pasted', ['blob', mpeg, 'video/mpeg']);
    assert.deepEqual(rejected, []);
    assert.deepEqual(media, [{ name: 'file.mpg' }]);
  });

  for (const id of ['---', '..', '*', '.', 'a.b', 'a b', 'a%00b', '%2e%2e', 'x'.repeat(65), 'caf%C3%A9', '__']) {
    test(`the id '${id.slice(0, 10)}' is refused, and nobody else's bucket is touched`, async () => {
      await upload(world, 'victim', ['v.txt', 'mine']);
      const url = `${world.origin}/backend-api/v2/files/${id === '..' || id === '.' ? id.replaceAll('.', '%2e') : id}`;
      for (const method of ['POST', 'GET', 'DELETE']) {
        const status = await raw(url, method, world.origin, id);
        assert.ok(status === 400 || status === 404, `${method} ${status}`);
      }
      assert.match(await textOf('victim'), /mine/);
      await remove(at(world, 'files/victim'));
    });
  }

  test('refuses what is no upload', async () => {
    const url = at(world, 'files/refused');
    const empty = new FormData();
    empty.append('other', 'x');
    assert.deepEqual(pick(await told(fetch(url, { method: 'POST', body: empty }))), [400, 'invalid_request']);
    const field = new FormData();
    field.append('files', 'no file');
    assert.deepEqual(pick(await told(fetch(url, { method: 'POST', body: field }))), [400, 'invalid_request']);
    assert.deepEqual(pick(await told(postJson(url, {}))), [415, 'unsupported_media_type']);
    const broken = {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x\r\nnope',
    };
    assert.deepEqual(pick(await told(fetch(url, broken))), [400, 'invalid_request']);
    // Nothing of all this made a bucket.
    assert.deepEqual(pick(await told(fetch(url))), [404, 'not_found']);
    assert.match((await told(fetch(url))).message, /^Bucket directory not found/);
    assert.deepEqual(pick(await told(fetch(`${url}/stream`))), [404, 'not_found']);
  });

  test('the event form, by path and by Accept: sizes, media, done, and the end', async () => {
    await upload(world, 'events', ['a.txt', 'abc'], ['b.txt', 'defg'], ['p.png', await png(10, 10)]);
    const expected = [
      { action: 'load', size: 3 },
      { action: 'load', size: 7 },
      { action: 'media', filename: 'p.png' },
      { action: 'done', size: 7 },
    ];
    for (const [url, headers] of [
      [at(world, 'files/events/stream'), {}],
      [at(world, 'files/events'), { accept: 'text/event-stream' }],
    ] as const) {
      const response = await fetch(url, { headers });
      assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
      const text = await response.text();
      assert.ok(!/^event:/m.test(text), 'the events have no name');
      assert.deepEqual(dataOf(text), expected);
      assert.ok(!text.includes('defg'), 'events never carry the text');
    }
  });

  test('as a browser listens: messages, then the end', async () => {
    await upload(world, 'listen', ['a.txt', 'abc']);
    const messages = await listen(at(world, 'files/listen/stream'));
    assert.deepEqual(messages, [
      { action: 'load', size: 3 },
      { action: 'done', size: 3 },
    ]);
  });

  test('shows what happens while an upload runs', async () => {
    const slow = slowUpload(at(world, 'files/slow'));
    slow.part('one.txt', 'first');
    slow.begin('two.txt');
    const watching = await eventually(async () => {
      const response = await fetch(at(world, 'files/slow/stream'));
      if (response.status === 200) return response;
      await response.text();
      return undefined;
    });
    assert.ok(watching.body !== null);
    const reader = watching.body.getReader();
    const decoder = new TextDecoder();
    let seen = '';
    while (!seen.includes('"two.txt"')) {
      const { value, done } = await reader.read();
      assert.ok(!done, 'the stream waits for the upload');
      seen += decoder.decode(value, { stream: true });
    }
    assert.ok(!seen.includes('done'));
    assert.equal(await slow.end('second'), 200);
    for (let step = await reader.read(); !step.done; step = await reader.read()) seen += decoder.decode(step.value);
    assert.deepEqual(dataOf(seen).slice(-3), [
      { action: 'load', size: 5 },
      { action: 'load', size: 15 },
      { action: 'done', size: 15 },
    ]);
  });

  test('an upload that breaks off leaves nothing, and its watchers are told', async () => {
    const slow = slowUpload(at(world, 'files/broken'));
    slow.part('one.txt', 'first');
    slow.begin('two.txt');
    const watching = await eventually(async () => {
      const response = await fetch(at(world, 'files/broken/stream'));
      if (response.status === 200) return response;
      await response.text();
      return undefined;
    });
    slow.abort();
    // The failure is told, then the connection is cut.
    const text = await drained(watching);
    assert.match(text, /data: \{"error":\{"message":"Bucket directory not found/);
    assert.deepEqual(pick(await told(fetch(at(world, 'files/broken')))), [404, 'not_found']);
    await eventually(async () => (filesBelow(world, 'uploads').length === 0 ? true : undefined));
    assert.deepEqual(filesBelow(world, path.join('buckets', 'broken')), []);
  });

  test('reading deletes only when it is asked to', async () => {
    for (const query of [
      '',
      '?delete_files=false',
      '?delete_files=0',
      '?delete_files=',
      '?refine_chunks_with_spacy=true',
    ]) {
      await upload(world, 'keep', ['a.txt', 'stays']);
      assert.match(await textOf('keep', query), /stays/);
      assert.match(await textOf('keep'), /stays/, query);
    }
    assert.match(await textOf('keep', '?delete_files=true'), /stays/);
    assert.equal((await told(fetch(at(world, 'files/keep')))).status, 404);
    await upload(world, 'keep', ['a.txt', 'stays']);
    const events = dataOf(await (await fetch(at(world, 'files/keep/stream?delete_files=1'))).text());
    assert.deepEqual(events.slice(-2), [{ action: 'delete_files' }, { action: 'done', size: 5 }]);
    assert.equal((await told(fetch(at(world, 'files/keep')))).status, 404);
    assert.deepEqual(filesBelow(world, path.join('buckets', 'keep')), []);
  });

  test('DELETE takes a bucket with all its files, once', async () => {
    await upload(world, 'gone', ['a.txt', 'x'], ['p.png', await png(900, 900)]);
    assert.equal(filesBelow(world, path.join('buckets', 'gone')).length, 3);
    const first = await told(remove(at(world, 'files/gone')));
    assert.deepEqual([first.status, first.json], [200, { message: 'Bucket deleted successfully' }]);
    assert.deepEqual(pick(await told(remove(at(world, 'files/gone')))), [404, 'not_found']);
    assert.deepEqual(filesBelow(world, path.join('buckets', 'gone')), []);
    assert.equal(await statusOf(`${world.origin}/files/gone/media/p.png`), 404);
  });

  test('serves media with ranges, conditions and HEAD', async () => {
    const bytes = await png(800, 600);
    await upload(world, 'media', ['p.png', bytes, 'image/png']);
    const url = `${world.origin}/files/media/media/p.png`;
    const whole = await fetch(url);
    assert.equal(whole.status, 200);
    assert.deepEqual(Buffer.from(await whole.arrayBuffer()), bytes);
    const headers = Object.fromEntries(whole.headers);
    assert.equal(headers['content-type'], 'image/png');
    assert.equal(headers['content-disposition'], 'inline');
    assert.equal(headers['cache-control'], 'no-cache');
    assert.equal(headers['accept-ranges'], 'bytes');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.match(headers['content-security-policy'] ?? '', /sandbox/);
    const { etag = '', 'last-modified': modified = '' } = headers;

    const part = await fetch(url, { headers: { range: 'bytes=1-3' } });
    assert.deepEqual(
      [part.status, part.headers.get('content-range'), await part.text()],
      [206, `bytes 1-3/${bytes.length}`, 'PNG'],
    );
    const tail = await fetch(url, { headers: { range: 'bytes=-4' } });
    assert.deepEqual([tail.status, Buffer.from(await tail.arrayBuffer())], [206, bytes.subarray(-4)]);
    const open = await fetch(url, { headers: { range: 'bytes=10-', 'if-range': etag } });
    assert.deepEqual([open.status, (await open.arrayBuffer()).byteLength], [206, bytes.length - 10]);
    const changed = await fetch(url, { headers: { range: 'bytes=10-', 'if-range': '"other"' } });
    assert.deepEqual([changed.status, (await changed.arrayBuffer()).byteLength], [200, bytes.length]);
    const beyond = await fetch(url, { headers: { range: `bytes=${bytes.length}-` } });
    assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, `bytes */${bytes.length}`]);
    for (const range of ['bytes=0-0,2-3', 'lines=1-2', 'bytes=x-y'])
      assert.equal(await statusOf(url, { headers: { range } }), 200, range);

    for (const condition of [
      { 'if-none-match': etag },
      { 'if-none-match': `W/${etag}, "x"` },
      { 'if-modified-since': modified },
    ]) {
      const fresh = await fetch(url, { headers: condition });
      assert.deepEqual([fresh.status, await fresh.text()], [304, '']);
    }
    assert.equal(await statusOf(url, { headers: { 'if-none-match': '"other"' } }), 200);
    const head = await fetch(url, { method: 'HEAD', headers: { range: 'bytes=1-3' } });
    assert.deepEqual(
      [head.status, head.headers.get('content-length'), await head.text()],
      [200, String(bytes.length), ''],
    );

    const small = await fetch(`${world.origin}/files/media/thumbnail/p.png`);
    const { width, height, format } = await sharp(Buffer.from(await small.arrayBuffer())).metadata();
    assert.deepEqual([small.headers.get('content-type'), width, height, format], ['image/webp', 400, 300, 'webp']);
    assert.equal(await statusOf(`${world.origin}/files/media/other/p.png`), 400);
  });

  test('no query leads elsewhere', async () => {
    await upload(world, 'query', ['p.png', await png(4, 4)]);
    for (const route of [
      'files/query/media/none.png',
      'files/query/thumbnail/none.png',
      'media/none.png',
      'images/none.png',
      'thumbnail/none.png',
    ]) {
      const response = await fetch(`${world.origin}/${route}?url=http%3A%2F%2Fexample.com%2Fx.png`, {
        redirect: 'manual',
      });
      assert.equal(response.status, 404, route);
      assert.equal(response.headers.get('location'), null);
      assert.match((await told(response)).message, /^File not found/);
    }
  });

  test('bytes decide what is media; nothing that is served can run', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    const { files, media, rejected } = await upload(
      world,
      'hostile',
      ['text.png', 'just text', 'image/png'],
      ['page.png', '<html><script>alert(1)</script></html>', 'image/png'],
      ['picture.svg', svg, 'image/svg+xml'],
      ['page.html', '<h1>Hello</h1><script>alert(1)</script>', 'text/html'],
      ['song.mp3', 'no song', 'audio/mpeg'],
    );
    assert.deepEqual(media, []);
    assert.deepEqual(
      rejected.map(({ name }) => name),
      ['text.png', 'page.png', 'song.mp3'],
    );
    assert.deepEqual(files, ['picture.svg', 'page.html.md']);
    for (const name of [...files, 'page.html', 'text.png'])
      assert.equal(await statusOf(`${world.origin}/files/hostile/media/${name}`), 404, name);
    const response = await fetch(at(world, 'files/hostile'));
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain/);
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    assert.ok(!(await response.text()).includes('<h1>'));
  });

  test('refuses bombs and files that leave their archive', async () => {
    const slip = writeZip([
      ['../../../slipped.txt', Buffer.from('out')],
      ['/absolute.txt', Buffer.from('out')],
      ['fine.txt', Buffer.from('inside')],
    ]);
    const { files, rejected } = await upload(
      world,
      'bombs',
      ['bomb.zip', bomb(64 * 1024 * 1024)],
      ['bomb.docx', bomb(64 * 1024 * 1024)],
      ['slip.zip', slip],
    );
    assert.ok(
      rejected.some(({ name }) => name.startsWith('bomb.zip')),
      JSON.stringify(rejected),
    );
    assert.ok(rejected.some(({ name }) => name === 'bomb.docx'));
    assert.ok(
      files.every((name) => name.startsWith('slip.zip_')),
      JSON.stringify(files),
    );
    assert.ok((await textOf('bombs')).length < 2_000);
    const all = readdirSync(world.folder, { recursive: true }).map(String);
    assert.ok(!all.some((name) => /slipped|absolute/.test(name)));
  });

  test('addresses of downloads.json are read through the guard', async () => {
    let hits = 0;
    const canary = await (await import('../support/plain-server.ts')).plainServer(
      { after: (done) => after(done) },
      (_, response) => {
        hits += 1;
        response.end('secret');
      },
    );
    const list = [
      { url: `${canary.url}/a` },
      { urls: ['http://[::1]:9/x', 'file:///etc/passwd', 'http://169.254.169.254/latest'] },
    ];
    const answer = await upload(world, 'downloads', ['downloads.json', JSON.stringify(list), 'application/json']);
    assert.deepEqual(answer.files, []);
    assert.deepEqual(
      answer.rejected.map(({ name }) => name),
      [`${canary.url}/a`, 'http://[::1]:9/x', 'file:///etc/passwd', 'http://169.254.169.254/latest'],
    );
    assert.equal(hits, 0);
    const many = Array.from({ length: 14 }, (_, index) => ({ url: `http://127.0.0.1:9/${index}` }));
    const { rejected } = await upload(world, 'downloads', ['downloads.json', JSON.stringify(many)]);
    assert.equal(rejected.length, 14);
    assert.equal(rejected.filter(({ reason }) => /only 10/.test(reason)).length, 4);
    // A file of that name that is no such list is a file.
    const other = await upload(world, 'downloads', ['downloads.json', '{"npm": 12}']);
    assert.deepEqual(other.files, ['downloads.json']);
    const events = await listen(at(world, 'files/downloads/stream'));
    assert.equal((events.at(-1) as { action: string }).action, 'done');
  });
});

/** The JSON of the `data:` lines. */
function dataOf(text: string): { readonly action?: string }[] {
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
}

/** What EventSource gets until the connection ends, which it sees as an error. */
function listen(url: string): Promise<unknown[]> {
  return new Promise((resolve) => {
    const source = new EventSource(url);
    const messages: unknown[] = [];
    source.onmessage = (event) => messages.push(JSON.parse(event.data));
    source.onerror = () => {
      source.close();
      resolve(messages);
    };
  });
}

/** All that a body brings before it ends or is cut. */
async function drained(response: Response): Promise<string> {
  let text = '';
  try {
    for await (const piece of response.body ?? []) text += Buffer.from(piece).toString();
  } catch {
    // cut
  }
  return text;
}

/** Sends a path as it is, which `fetch` would tidy up. */
function raw(url: string, method: string, origin: string, id: string): Promise<number> {
  const { hostname, port } = new URL(origin);
  const headers = method === 'POST' ? { 'content-type': 'multipart/form-data; boundary=x' } : {};
  const asked = id === '..' || id === '.' ? `/backend-api/v2/files/${id}` : new URL(url).pathname;
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path: asked, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    const body = '--x\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\nx\r\n--x--\r\n';
    sent.end(method === 'POST' ? body : undefined);
  });
}

/** An upload whose parts are sent when the test says so. */
function slowUpload(url: string) {
  const { hostname, port, pathname } = new URL(url);
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  let answered: (status: number) => void = () => {};
  const status = new Promise<number>((resolve) => {
    answered = resolve;
  });
  const sent = request({ hostname, port, method: 'POST', path: pathname, headers }, (response) => {
    response.resume();
    answered(response.statusCode ?? 0);
  });
  sent.on('error', () => answered(0));
  const head = (name: string) => `--x\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\n\r\n`;
  return {
    part: (name: string, content: string) => sent.write(`${head(name)}${content}\r\n`),
    begin: (name: string) => sent.write(`${head(name)}the `),
    end(content: string) {
      sent.end(`${content}\r\n--x--\r\n`);
      return status;
    },
    abort: () => sent.destroy(),
  };
}

/** A small zip whose one member unpacks to so many zeros. */
function bomb(size: number): Buffer {
  const zeros = Buffer.alloc(size);
  const packed = deflateRawSync(zeros, { level: 9 });
  const name = Buffer.from('zeros.txt');
  const shared = Buffer.alloc(26);
  shared.writeUInt16LE(20, 0);
  shared.writeUInt16LE(8, 4);
  shared.writeUInt32LE(crc32(zeros), 10);
  shared.writeUInt32LE(packed.length, 14);
  shared.writeUInt32LE(size, 18);
  shared.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, name, packed]);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(20, 4);
  shared.copy(entry, 6);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length + name.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, entry, name, end]);
}
