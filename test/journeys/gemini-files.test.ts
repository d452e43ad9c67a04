import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ApiError, type Content, createPartFromUri, createUserContent, type File, GoogleGenAI } from '@google/genai';
import { temporaryFolder } from '../support/config-folder.ts';
import { ask } from '../support/raw-http.ts';
import { PIXEL } from './abilities.ts';
import { FORMATS, openWorld, type World } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

const PDF = Buffer.from('%PDF-1.4\n1 0 obj <<>> endobj\ntrailer <<>>\n%%EOF\n');
const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

describe("files of the Gemini API's clients", { timeout: 120_000 }, () => {
  let world: World;
  let client: GoogleGenAI;
  before(async () => {
    world = await openWorld();
    client = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: world.gateway.origin } });
  });
  after(() => world.close());

  const send = async (bytes: Buffer, mimeType: string, displayName?: string): Promise<Required<File>> => {
    const file = new Blob([new Uint8Array(bytes)], { type: mimeType });
    const config = displayName === undefined ? {} : { displayName };
    return (await client.files.upload({ file, config })) as Required<File>;
  };

  test('are kept, listed, read and deleted', async (context) => {
    const folder = temporaryFolder(context);
    const source = path.join(folder, 'report.pdf');
    await writeFile(source, PDF);
    const file = (await client.files.upload({ file: source })) as Required<File>;
    assert.match(file.name, /^files\/[0-9a-f]{48}$/);
    assert.deepEqual(
      [file.displayName, file.mimeType, file.sizeBytes, file.state, file.source],
      ['report.pdf', 'application/pdf', String(PDF.length), 'ACTIVE', 'UPLOADED'],
    );
    assert.equal(file.uri, `${world.gateway.origin}/v1beta/${file.name}`);
    const keptMs = Date.parse(file.expirationTime) - Date.parse(file.createTime);
    assert.equal(keptMs, 48 * 60 * 60_000);
    assert.deepEqual(await client.files.get({ name: file.name }), file);
    const copy = path.join(folder, 'copy.pdf');
    await client.files.download({ file: file.name, downloadPath: copy });
    assert.deepEqual(await readFile(copy), PDF);
    const others = [await send(Buffer.from('a,b\n1,2'), 'text/csv', 'Grüße'), await send(PDF, 'application/pdf')];
    assert.equal(others[0]?.displayName, 'Grüße');
    for (const pageSize of [1, 2, 100]) {
      const names = await Array.fromAsync(await client.files.list({ config: { pageSize } }), ({ name }) => name);
      assert.deepEqual(
        names,
        [...others.toReversed(), file].map(({ name }) => name),
      );
    }
    // Others see the same file.
    const id = `file-${file.name.slice('files/'.length)}`;
    assert.equal((await world.client.files.retrieve(id)).filename, 'report.pdf');
    for (const each of [file, ...others]) await client.files.delete({ name: each.name });
    await assert.rejects(client.files.get({ name: file.name }), isMissing);
    await assert.rejects(client.files.delete({ name: file.name }), isMissing);
    assert.deepEqual(await Array.fromAsync(await client.files.list()), []);
  });

  test('come in pieces where they are large', async () => {
    const bytes = Buffer.alloc(20 * 1024 * 1024, (Math.random() * 256) | 0);
    bytes.writeUInt32BE(0xdeadbeef, 9 * 1024 * 1024);
    const file = await send(bytes, 'application/octet-stream', 'large.bin');
    assert.equal(file.sizeBytes, String(bytes.length));
    const content = await world.client.files.content(`file-${file.name.slice('files/'.length)}`);
    assert.ok(bytes.equals(Buffer.from(await content.arrayBuffer())));
    await client.files.delete({ name: file.name });
  });

  for (const format of FORMATS) {
    test(`reach ${format} as if they had come inline`, async () => {
      const seat = world.seat(format);
      const file = await send(PDF, 'application/pdf', 'report.pdf');
      const notes = await send(Buffer.from('<h1>Tides</h1><p>They rise.</p>'), 'text/html', 'notes.html');
      const name = seat.model;
      const contents = createUserContent([
        createPartFromUri(file.uri, file.mimeType),
        createPartFromUri(notes.uri, notes.mimeType),
        'What is it?',
      ]);
      seat.answers({ text: ['Read.'] });
      const whole = await client.models.generateContent({ model: name, contents });
      assert.equal(whole.text, 'Read.');
      const holds = (): void => {
        const sent = JSON.stringify(seat.last.body);
        assert.ok(sent.includes(PDF.toString('base64')), sent);
        assert.ok(sent.includes('They rise.'), sent);
        assert.equal(sent.includes(file.name), false, sent);
      };
      holds();
      await Array.fromAsync(await client.models.generateContentStream({ model: name, contents }));
      holds();
      await client.files.delete({ name: file.name });
      await assert.rejects(client.models.generateContent({ model: name, contents }), isMissing);
    });
  }

  test('keep what else is said of them before Google, and stay what they are in results of tools', async () => {
    const seat = world.seat('google');
    seat.answers({ text: ['Seen.'] });
    const file = await send(PDF, 'application/pdf', 'report.pdf');
    const fileData = { fileUri: file.uri, mimeType: file.mimeType };
    const elsewhere = {
      fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc-123',
      mimeType: 'video/mp4',
    };
    const inlineData = { mimeType: 'application/pdf', data: PDF.toString('base64') };
    await client.models.generateContent({
      model: seat.model,
      contents: [
        {
          role: 'user',
          parts: [
            // Whatever the part says that it is.
            { fileData: { ...fileData, mimeType: 'image/png' }, videoMetadata: { fps: 2 } },
            { fileData: elsewhere, videoMetadata: { fps: 3 } },
          ],
        },
        { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: {} } }] },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'look', response: { output: 'there' }, parts: [{ fileData }] } },
          ],
        },
      ],
    });
    assertHolds(seat.last.body, {
      contents: [
        {
          parts: [
            { inlineData, videoMetadata: { fps: 2 } },
            { fileData: elsewhere, videoMetadata: { fps: 3 } },
          ],
        },
        {},
        { parts: [{ functionResponse: { response: { output: 'there' }, parts: [{ inlineData }] } }] },
      ],
    });
    assert.equal(JSON.stringify(seat.last.body).includes(file.name), false);
  });

  test('results of tools that name a bucket or its media go to Google with what is in them', async () => {
    const seat = world.seat('google');
    seat.answers({ text: ['Seen.'] });
    const form = new FormData();
    form.append('files', new Blob([Buffer.from(PIXEL, 'base64')], { type: 'image/png' }), 'dot.png');
    form.append('files', new Blob(['Grass is green.'], { type: 'text/plain' }), 'notes.txt');
    const uploaded = await fetch(`${world.gateway.origin}/backend-api/v2/files/seen`, { method: 'POST', body: form });
    assert.equal(uploaded.status, 200);
    const response = { degrees: 20 };
    const result = async (parts: object[]) => {
      const sent = { id: 'c1', name: 'look', response, willContinue: false, parts };
      const contents = [
        { role: 'user', parts: [{ text: 'Look' }] },
        { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: sent }] },
      ];
      await client.models.generateContent({ model: seat.model, contents: contents as Content[] });
      const { contents: arrived } = seat.last.body as { contents: { parts: { functionResponse?: object }[] }[] };
      return arrived[2]?.parts[0]?.functionResponse;
    };
    const dot = { inlineData: { mimeType: 'image/png', data: PIXEL } };
    const told = { id: 'c1', name: 'look', response, willContinue: false };
    assert.deepEqual(await result([{ bucketId: 'seen', name: 'dot.png' }, dot]), { ...told, parts: [dot, dot] });
    const fileData = { fileUri: '/files/seen/media/dot.png', mimeType: 'image/png' };
    assert.deepEqual(await result([{ fileData }]), { ...told, parts: [dot] });
    // A result may refer to its media by their names: `{"$ref": "dot"}`.
    const { uri: fileUri, mimeType } = await client.files.upload({
      file: new Blob([Buffer.from(PIXEL, 'base64')]),
      config: { mimeType: 'image/png' },
    });
    const named = { parts: [{ inlineData: { ...dot.inlineData, displayName: 'dot' } }] };
    for (const each of [fileData, { fileUri, mimeType }]) {
      assert.deepEqual(await result([{ fileData: { ...each, displayName: 'dot' } }]), { ...told, ...named });
    }
    const { response: said, ...others } = (await result([{ bucketId: 'seen' }])) as { response: { output: string } };
    assert.deepEqual(others, { id: 'c1', name: 'look', willContinue: false });
    assert.match(said.output, /^\{"degrees":20\}\n.*Grass is green\./s);
  });

  test('a turn of the model with a bucket without text is no content for Google, which refuses empty ones', async () => {
    const seat = world.seat('google');
    seat.answers({ text: ['Seen.'] });
    const form = new FormData();
    form.append('files', new Blob([Buffer.from(PIXEL, 'base64')], { type: 'image/png' }), 'dot.png');
    const uploaded = await fetch(`${world.gateway.origin}/backend-api/v2/files/drawn`, { method: 'POST', body: form });
    assert.equal(uploaded.status, 200);
    const said = { role: 'user', parts: [{ text: 'Look' }] };
    const contents = [said, { role: 'model', parts: [{ bucketId: 'drawn' }] }, said];
    // Google's client sends only what its types know.
    const path = `/v1beta/models/${seat.model}:generateContent`;
    const answer = await ask(world.gateway.origin, { path, body: { contents } });
    assert.equal(answer.status, 200, answer.text);
    const { contents: arrived } = seat.last.body as { contents: unknown };
    assert.deepEqual(arrived, [{ role: 'user', parts: [...said.parts, ...said.parts] }]);
  });

  describe('as they come, byte by byte', () => {
    const URL_HEADER = 'x-goog-upload-url';
    const post = (address: string, headers: Record<string, string>, body: Buffer | string = '') => {
      const { pathname, search } = new URL(address, world.gateway.origin);
      return ask(world.gateway.origin, {
        method: 'POST',
        path: pathname + search,
        body,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [`x-goog-upload-${name}`, value])),
      });
    };
    const start = async (headers: Record<string, string> = {}, body = ''): Promise<string> => {
      const answer = await post('/upload/v1beta/files', { protocol: 'resumable', command: 'start', ...headers }, body);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers['x-goog-upload-status'], 'active');
      return String(answer.headers[URL_HEADER]);
    };
    const code = (answer: { readonly json: unknown }): string =>
      (answer.json as { error: { details: { reason: string }[] } }).error.details[0]?.reason ?? '';

    test('a client that lost its connection asks how much is there, and goes on', async () => {
      const address = await start({
        'header-content-length': '6',
        'header-content-type': 'text/plain',
        'file-name': 'a.txt',
      });
      const first = await post(address, { command: 'upload', offset: '0' }, 'abcd');
      assert.deepEqual([first.status, first.headers['x-goog-upload-status']], [200, 'active']);
      const again = await post(address, { command: 'upload', offset: '0' }, 'abcd');
      assert.deepEqual([again.status, again.headers['x-goog-upload-size-received']], [200, '4']);
      const asked = await post(address, { command: 'query' });
      assert.deepEqual([asked.status, asked.headers['x-goog-upload-size-received']], [200, '4']);
      for (const offset of ['2', '5']) {
        const wrong = await post(address, { command: 'upload', offset }, 'ef');
        assert.equal(wrong.status, 400);
        assert.match(wrong.text, /There are 4 bytes, so the offset must be 4/);
      }
      assert.match((await post(address, { command: 'finalize' })).text, /6 bytes were announced, and 4 have come/);
      assert.equal((await post(address, { command: 'upload', offset: 'x' }, 'ef')).status, 400);
      assert.equal((await post(address, { command: 'sing' })).status, 400);
      const done = await post(address, { command: 'upload, finalize', offset: '4' }, 'ef');
      assert.deepEqual([done.status, done.headers['x-goog-upload-status']], [200, 'final'], done.text);
      const { file } = done.json as { file: Required<File> };
      assert.deepEqual([file.displayName, file.mimeType, file.sizeBytes], ['a.txt', 'text/plain', '6']);
      const repeated = await post(address, { command: 'upload, finalize', offset: '4' }, 'ef');
      assert.deepEqual([repeated.status, repeated.json], [200, done.json]);
      const known = await post(address, { command: 'query' });
      assert.deepEqual(
        [known.headers['x-goog-upload-status'], known.headers['x-goog-upload-size-received']],
        ['final', '6'],
      );
    });

    test('a file may be empty, or come in one piece', async () => {
      const address = await start({}, '{"file":{"display_name":"empty.txt","mime_type":"text/plain"}}');
      const done = await post(address, { command: 'upload, finalize', offset: '0' });
      assert.deepEqual([done.status, (done.json as { file: File }).file.sizeBytes], [200, '0'], done.text);
      const raw = await ask(world.gateway.origin, {
        method: 'POST',
        path: '/upload/v1beta/files?uploadType=media',
        headers: {
          'x-goog-upload-protocol': 'raw',
          'x-goog-upload-file-name': 'a.pdf',
          'content-type': 'application/pdf',
        },
        body: PDF,
      });
      const { file } = raw.json as { file: File };
      assert.deepEqual([raw.status, file.displayName, file.mimeType], [200, 'a.pdf', 'application/pdf'], raw.text);
    });

    test('what was cancelled, and what never began, is not there', async () => {
      const address = await start();
      assert.equal((await post(address, { command: 'upload' }, 'a')).status, 200);
      const cancelled = await post(address, { command: 'cancel' });
      assert.deepEqual([cancelled.status, cancelled.headers['x-goog-upload-status']], [200, 'cancelled']);
      for (const name of [new URL(address).searchParams.get('upload_id'), '../../sent', 'x', '0'.repeat(48)]) {
        for (const command of ['upload', 'upload, finalize', 'finalize', 'query', 'cancel']) {
          const answer = await post(`/upload/v1beta/files?upload_id=${name}`, { command, offset: '0' }, 'a');
          assert.deepEqual([answer.status, code(answer)], [404, 'not_found'], `${command} ${answer.text}`);
        }
      }
    });

    test('what is wrong with a begin is told at once', async () => {
      for (const [headers, body, status, words] of [
        [{}, '', 400, /X-Goog-Upload-Protocol: resumable/],
        [{ protocol: 'resumable' }, '', 400, /X-Goog-Upload-Command: start/],
        [{ protocol: 'resumable', command: 'start' }, '{"file":{"name":"files/mine"}}', 400, /Leave 'file.name' out/],
        [{ protocol: 'resumable', command: 'start' }, '{"file":{"displayName":7}}', 400, /displayName/],
        [{ protocol: 'resumable', command: 'start' }, '{"file":{"sizeBytes":"99999999999"}}', 413, /larger than/],
        [{ protocol: 'resumable', command: 'start' }, '[', 400, /not valid JSON/],
        [{ protocol: 'resumable', command: 'start', 'file-name': 'a'.repeat(300) }, '', 400, /more than 255 bytes/],
        [{ protocol: 'raw', 'file-name': 'a'.repeat(300) }, 'x', 400, /more than 255 bytes/],
        [{ protocol: 'resumable', command: 'start', 'header-content-length': 'many' }, '', 400, /number of bytes/],
        [{ protocol: 'resumable', command: 'start', 'header-content-length': '99999999999' }, '', 413, /larger than/],
      ] as const) {
        const answer = await post('/upload/v1beta/files', headers, body);
        assert.equal(answer.status, status, answer.text);
        assert.match(answer.text, words);
      }
    });

    test('what is tried on a file and is not there is told with what is, and what to do', async () => {
      const file = await send(PDF, 'application/pdf', 'report.pdf');
      for (const method of ['POST', 'PUT', 'PATCH']) {
        for (const path of [`/v1beta/${file.name}`, `/v1beta/${file.name}:download`, '/v1beta/files/x']) {
          for (const sent of [{ body: { file: { displayName: 'x' } } }, {}]) {
            const answer = await ask(world.gateway.origin, { method, path, ...sent });
            assert.equal(answer.status, 405, `${method} ${path} ${answer.text}`);
            const allow = String(answer.headers['allow']);
            for (const word of ['GET', 'HEAD', 'DELETE']) assert.ok(allow.includes(word), word);
            assert.doesNotMatch(answer.text, /generateContent/);
          }
        }
      }
      const posted = await ask(world.gateway.origin, { path: `/v1beta/${file.name}`, body: {} });
      assert.match(posted.text, /POST \/upload\/v1beta\/files/);
      await client.files.delete({ name: file.name });
    });

    test('the address has what stood in the query, for clients that have their key there', async () => {
      const answer = await post('/upload/v1beta/files?key=a-key', { protocol: 'resumable', command: 'start' });
      assert.equal(new URL(String(answer.headers[URL_HEADER])).searchParams.get('key'), 'a-key');
    });
  });
});
