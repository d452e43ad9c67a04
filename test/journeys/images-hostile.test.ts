import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type ImageReply, type ImageUpstream, startImageUpstream } from '../support/image-upstream.ts';
import { dataUri, picture } from '../support/pictures.ts';

/** Upstreams and clients that want to do harm with pictures: the answer is an error or a picture, and the gateway lives on. */

const KB = 1024;
const red = await picture('#ff0000');

/** A PNG of a few bytes that claims to be of that size. */
function bomb(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const body = Buffer.concat([Buffer.from(type), data]);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc(1024 * KB));
  const magic = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([magic, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

function crc(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

describe('pictures that want to do harm', { timeout: 60_000 }, () => {
  let gateway: Gateway;
  let upstream: ImageUpstream;
  let reply: ImageReply;
  const ends: (() => void)[] = [];
  before(async () => {
    upstream = await startImageUpstream({ after: (done) => ends.push(done) }, () => () => reply);
    gateway = await startGateway(
      `providers: { acme: { kind: openai, baseUrl: '${upstream.origin}/v1', models: [dall-e-3] } }\nlimits: { answerBytes: 262144, chatBodyBytes: 65536 }\n`,
    );
  });
  after(async () => {
    await gateway.close();
    for (const end of ends) end();
  });

  async function draw(body: object = {}, path = 'generations') {
    const response = await fetch(`${gateway.origin}/v1/images/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'x', ...body }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into it
    return { status: response.status, json: (await response.json()) as any };
  }
  const answers = (...data: object[]): void => {
    reply = { json: { created: 1, data } };
  };

  test('an answer without end is not taken in', async () => {
    reply = {
      async write(response) {
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"data":[{"b64_json":"');
        while (!response.destroyed) {
          if (!response.write('A'.repeat(64 * KB))) await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
    };
    const { status, json } = await draw();
    assert.deepEqual([status, json.error.code], [502, 'upstream_invalid']);
    assert.equal(await upstream.calls.at(-1)?.closed, 'aborted');
  });

  test('a few bytes that claim to be a wall of pixels', async () => {
    answers({ b64_json: bomb(60_000, 60_000).toString('base64') });
    const { status, json } = await draw();
    assert.ok(status === 200 || status === 502, JSON.stringify(json));
    answers({ b64_json: red.toString('base64') });
    assert.equal((await draw()).status, 200);
  });

  for (const [name, item] of [
    ['base64 that is none', { b64_json: '%%%%' }],
    ['base64 of HTML', { b64_json: Buffer.from('<html><script>x()</script>').toString('base64') }],
    ['a data: URI of SVG', { url: 'data:image/svg+xml,<svg onload="x()"/>' }],
    ['a data: URI without a comma', { url: 'data:image/png;base64' }],
    ['an empty data: URI', { url: 'data:image/png;base64,' }],
    ['a file', { url: 'file:///etc/passwd' }],
    ['a script', { url: 'javascript:x()' }],
    ['numbers', { url: 7, b64_json: 8 }],
  ] as const) {
    test(`${name}: 502`, async () => {
      answers(item);
      const { status, json } = await draw();
      assert.deepEqual([status, json.error.code], [502, 'upstream_invalid'], JSON.stringify(json));
    });
  }

  test('a data: URI in the place of an address is kept, and never handed on', async () => {
    answers({ url: dataUri(red) });
    for (const fields of [{}, { download_media: false }, { response_format: 'url' }]) {
      const { json } = await draw(fields);
      assert.ok(json.data[0].url.startsWith(`${gateway.origin}/media/`), JSON.stringify(json));
    }
    const { json } = await draw({ response_format: 'b64_json' });
    assert.deepEqual(json.data, [{ b64_json: red.toString('base64') }]);
  });

  test('hundreds of them: no more than anybody can ask for are looked at', async () => {
    answers(...Array.from({ length: 200 }, () => ({ b64_json: red.toString('base64') })));
    const { status, json } = await draw({ n: 2, response_format: 'b64_json' });
    assert.deepEqual([status, json.data?.length], [200, 10]);
  });

  test('bodies that are too large, or no forms', async () => {
    assert.equal((await draw({ image: 'a'.repeat(70 * KB) }, 'edits')).status, 413);
    const form = new FormData();
    form.append('prompt', 'x');
    form.append('image', new File([new Uint8Array(400 * KB)], 'x.png'));
    const edits = `${gateway.origin}/v1/images/edits`;
    assert.equal((await fetch(edits, { method: 'POST', body: form })).status, 413);
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    assert.equal((await fetch(edits, { method: 'POST', body: '--x\r\nbroken', headers })).status, 400);
    const generations = `${gateway.origin}/v1/images/generations`;
    assert.equal((await fetch(generations, { method: 'POST', body: new FormData() })).status, 415);
  });

  test('names and values of a form stay where they belong', async () => {
    answers({ b64_json: red.toString('base64') });
    const form = new FormData();
    form.append('prompt', 'a\r\n--boundary\r\nContent-Disposition: form-data; name="model"\r\n\r\nevil');
    form.append('x"\r\nevil: 1\r\n', 'y');
    form.append('__proto__', 'z');
    form.append('image', new File([new Uint8Array(red)], 'a"\r\nb.png', { type: 'text/html' }));
    const response = await fetch(`${gateway.origin}/v1/images/edits`, { method: 'POST', body: form });
    assert.equal(response.status, 200, await response.text());
    const sent = upstream.calls.at(-1)?.form;
    assert.equal(sent?.get('model'), 'dall-e-3');
    assert.match(String(sent?.get('prompt')), /evil$/);
    const file = sent?.get('image') as File;
    assert.deepEqual([file.name, file.type], ['image.png', 'image/png']);
  });
});
