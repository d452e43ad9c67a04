import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { dataOf, png, textOf } from './kept-files-world.ts';
import {
  at,
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

describe('buckets over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

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
    assert.equal(answer.files.length, 4 + 3);
    assert.deepEqual(answer.media, [{ name: 'red.png', width: 640, height: 320 }]);
    assert.deepEqual(
      answer.rejected.map(({ name }) => name),
      ['mixed.zip/picture.png', 'virus.exe'],
    );
    for (const { reason } of answer.rejected) assert.ok(reason.length > 5);

    const text = await textOf(world, 'first');
    assert.ok(
      text.startsWith('<!-- File: notes.txt -->\nThe tide table.\n<!-- End -->\n\n<!-- File: readme.MD -->\n'),
      text,
    );
    assert.match(text, /<!-- File: writer\.pdf\.md -->\n# Letter about the quays/);
    assert.match(text, /<!-- File: notes\/Letter\.DOCX -->/);
  });

  test('takes rich text, and mail that says no encoding', async () => {
    const mail = 'From: J\xfcrgen <a@b.c>\nSubject: Gr\xfc\xdfe\n\nZ\xfcrich';
    const answer = await upload(
      world,
      'letters',
      [
        'letter.rtf',
        String.raw`{\rtf1\ansi\ansicpg1252 Z\'fcrich{\v hidden}, {\b quay} \u26481?\par}`,
        'application/rtf',
      ],
      ['old.eml', Buffer.from(mail, 'latin1')],
    );
    assert.deepEqual(answer.files, ['letter.rtf.md', 'old.eml.md']);
    const text = await textOf(world, 'letters');
    assert.match(text, /<!-- File: letter\.rtf\.md -->\nZürich, \*\*quay\*\* 東\n/);
    assert.match(text, /# Grüße\n\n- From: Jürgen <a@b\.c>\n\nZürich/);
  });

  test('a second upload adds, and reading shows it at once', async () => {
    await upload(world, 'again', ['a.txt', 'one']);
    assert.match(await textOf(world, 'again'), /one/);
    const answer = await upload(world, 'again', ['b.txt', 'two'], ['a.txt', 'three'], ['a.txt', 'four']);
    assert.deepEqual(answer.files, ['b.txt', 'a-2.txt', 'a-3.txt']);
    const names = [...(await textOf(world, 'again')).matchAll(/File: (\S+) -->\n(\w+)/g)].map((found) =>
      found.slice(1),
    );
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
      ['Chat.JSON', '{}'],
    );
    assert.deepEqual(files.slice(0, 6), ['passwd.txt', 'a_b.txt', 'a_b-2.txt', 'a_b-3.txt', 'boot.txt', 'up.txt']);
    assert.equal(files[6], `${'x'.repeat(96)}.txt`);
    assert.deepEqual(media, [{ name: 'file.png', width: 8, height: 8 }]);
    assert.deepEqual(rejected, [
      { name: '---', reason: 'has no usable name' },
      { name: 'package-lock.json', reason: 'has a name that is reserved' },
      { name: 'Chat.JSON', reason: 'has a name that is reserved' },
    ]);
    const inside = readdirSync(path.join(world.folder, 'data'), { recursive: true }).map(String);
    assert.ok(!inside.some((name) => /passwd|boot\.txt|up\.txt/.test(name)), 'bytes stand under names of ours');
    const stored = filesBelow(world, path.join('buckets', 'names'));
    assert.ok(stored.length > files.length);
    for (const name of stored) assert.match(name, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.\w+$/);
    assert.ok(!existsSync('/etc/passwd.txt'));
  });

  test('a name in a script whose words have marks stays readable, and the file is had under it', async () => {
    const { files, media } = await upload(
      world,
      'scripts',
      ['हिन्दी रिपोर्ट.txt', 'नमस्ते'],
      ['ประจำปี.png', await png(8, 8), 'image/png'],
    );
    assert.deepEqual([files, media[0]?.name], [['हिन्दी_रिपोर्ट.txt'], 'ประจำปี.png']);
    assert.match(await textOf(world, 'scripts'), /^<!-- File: हिन्दी_रिपोर्ट\.txt -->\nनमस्ते\n/);
    assert.equal(await statusOf(`${world.origin}/files/scripts/media/${encodeURIComponent('ประจำปี.png')}`), 200);
  });

  test('a name of signs alone is still that of a picture, a text, an archive', async () => {
    const { files, media, rejected } = await upload(
      world,
      'signs',
      ['😀.png', await png(8, 8), 'image/png'],
      ['!!!.txt', 'A text.'],
      ['___.zip', document('mixed.zip')],
      ['🎉.PNG', await png(4, 4), 'image/png'],
    );
    assert.deepEqual(
      media.map(({ name }) => name),
      ['file.png', 'file.PNG'],
    );
    assert.equal(files[0], 'file.txt');
    assert.ok(files.length > 1 && files.slice(1).every((name) => name.startsWith('file.zip_')), files.join());
    assert.ok(!rejected.some(({ name }) => !name.includes('/')), JSON.stringify(rejected));
    const picture = await fetch(`${world.origin}/files/signs/media/file.png`);
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png']);
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
      assert.match(await textOf(world, 'victim'), /mine/);
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
    for (const body of [undefined, 'bare text', new Uint8Array([1, 2])]) {
      const { status, message } = await told(fetch(url, { method: 'POST', ...(body === undefined ? {} : { body }) }));
      assert.deepEqual([status, message], [415, "Send the body as a multipart form with 'files'."]);
    }
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

  test('reading deletes only when it is asked to', async () => {
    for (const query of [
      '',
      '?delete_files=false',
      '?delete_files=0',
      '?delete_files=',
      '?refine_chunks_with_spacy=true',
    ]) {
      await upload(world, 'keep', ['a.txt', 'stays']);
      assert.match(await textOf(world, 'keep', query), /stays/);
      assert.match(await textOf(world, 'keep'), /stays/, query);
    }
    assert.match(await textOf(world, 'keep', '?delete_files=true'), /stays/);
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
});

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
