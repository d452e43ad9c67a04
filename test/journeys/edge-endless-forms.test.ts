import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { dial, listen, pour, statusesIn } from '../support/raw-http.ts';
import { openWorld, type World } from './edge-world.ts';

const MB = 1024 * 1024;
const PIECE = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'a'), Buffer.from('\r\n')]);

/** All of a form that says when it ends; what follows it never does. */
const STARTS = {
  'words before the first part': 'Hello',
  'the header of a part': '--x\r\ncontent-disposition: form-data; name="',
  'a field': '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n',
  'a file': '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n',
  'words after the last part': '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nHi\r\n--x--\r\n',
};

/** Whatever takes a form, or bytes. */
const PATHS: readonly (readonly [path: string, ...headers: string[]])[] = [
  ['/backend-api/v2/conversation'],
  ['/backend-api/v2/files/endless'],
  ['/backend-api/v2/upload_cookies'],
  ['/v1/upload_cookies'],
  ['/v1/files'],
  ['/v1/audio/transcriptions'],
  ['/v1/audio/translations'],
  ['/v1/images/edits'],
  ['/v1/images/variations'],
  ['/api/markitdown'],
  ['/upload/v1beta/files', 'x-goog-upload-protocol: raw'],
];

describe('forms without a length or an end', () => {
  let world: World;
  before(async () => {
    const limits = ['uploadFileBytes', 'uploadRequestBytes', 'chatBodyBytes', 'cookieFileBytes', 'bodyBytes'];
    world = await openWorld({ yaml: `limits: { ${limits.map((name) => `${name}: ${MB}`).join(', ')} }` });
  });
  after(() => world.close());

  test('are stopped at the limit, wherever a form is taken', { timeout: 120_000 }, async () => {
    await Promise.all(PATHS.flatMap((path) => Object.entries(STARTS).map((start) => stops(path, start))));
    assert.equal(world.upstream.chats.length, 0);
    await world.isWell();
  });

  async function stops([path, ...headers]: (typeof PATHS)[number], [what, start]: [string, string]): Promise<void> {
    const name = `${path}, ${what}`;
    const socket = await dial(world.gateway.origin);
    const heard = listen(socket, 60_000);
    const type = 'content-type: multipart/form-data; boundary=x';
    const head = [`POST ${path} HTTP/1.1`, 'host: localhost', type, 'transfer-encoding: chunked', ...headers, '', ''];
    socket.write(`${head.join('\r\n')}${start.length.toString(16)}\r\n${start}\r\n`);
    const size = await pour(socket, PIECE, 1024 * MB);
    assert.ok(size < 100 * MB, `${name}: ${size} bytes were taken`);
    const { text, closed } = await heard;
    const [status, ...more] = statusesIn(text);
    assert.ok(status === 413 || status === 400, `${name}: ${text}`);
    assert.deepEqual(more, [], name);
    assert.ok(closed, name);
  }
});
