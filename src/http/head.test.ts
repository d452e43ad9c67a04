import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { writeHead } from './head.ts';

type Write = (response: ServerResponse) => void;

const KEPT = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';
const CLOSED = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
const OLD = 'GET / HTTP/1.0\r\nhost: a\r\n\r\n';

/** All bytes that come back for requests on one connection, one per `write`; the last of them closes it. */
async function bytesOf(asked: readonly string[], writes: readonly Write[]): Promise<string> {
  const left = [...writes];
  const server = createServer((_request, response) => {
    left.shift()?.(response);
    response.end('hello');
  });
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    for (const request of asked) socket.write(request);
    return (await text(socket)).replace(/Date: [^\r]+/g, 'Date: now');
  } finally {
    server.close();
  }
}

/** What our way of writing sends, held to Node's. */
async function same(asked: readonly string[], ...heads: readonly (readonly OutgoingHttpHeaders[])[]): Promise<string> {
  const node = heads.map(
    (parts): Write =>
      (response) =>
        response.writeHead(200, Object.assign({}, ...parts)),
  );
  const ours = heads.map(
    ([shared = {}, ofBody = {}, own = {}]): Write =>
      (response) =>
        writeHead(response, shared as never, ofBody as never, own as never),
  );
  const [expected, found] = [await bytesOf(asked, node), await bytesOf(asked, ours)];
  assert.deepEqual(sorted(found), sorted(expected));
  return found;
}

/** Each answer's headers in the order of the alphabet: HTTP knows of none among different ones (RFC 9110 §5.3). */
function sorted(bytes: string): readonly (readonly string[])[] {
  return bytes.split(/(?=HTTP\/1\.1 )/).map((answer) => {
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    return [...head.split('\r\n').sort(), body];
  });
}

const SHARED = { 'x-request-id': 'a', vary: 'Origin' };
const BODY = { 'content-type': 'text/plain', 'content-length': 5 };

test('a head is the one that Node would write, and so is what becomes of the connection', async () => {
  for (const last of [CLOSED, OLD]) {
    await same(
      [KEPT, last],
      [SHARED, BODY, { 'x-a': '1' }],
      [{ ...SHARED, 'x-request-id': 'b' }, BODY, { 'x-a': '1' }],
    );
    await same([KEPT, last], [SHARED, { 'content-type': 'text/plain' }, {}], [SHARED, {}, {}]);
  }
  const closed = await same([KEPT], [{ ...SHARED, connection: 'close' }, BODY, {}]);
  assert.match(closed, /connection: close/);
  await same([KEPT], [{ connection: 'close' }, { 'transfer-encoding': 'chunked' }, {}]);
  await same([CLOSED], [{ date: 'some day' }, BODY, {}]);
  for (const own of [{ 'content-length': '5' }, { 'keep-alive': 'timeout=9' }])
    await same([KEPT, CLOSED], [SHARED, {}, own], [SHARED, {}, own]);
});

test('a later part of a head says it otherwise', async () => {
  const found = await same(
    [CLOSED],
    [{ vary: 'Origin', 'cache-control': 'public' }, { 'cache-control': 'no-cache', ...BODY }, { vary: '*' }],
  );
  assert.match(found, /cache-control: no-cache/);
  const own = await same([CLOSED], [{}, { 'cache-control': 'no-cache', ...BODY }, { 'cache-control': 'no-store' }]);
  assert.match(own, /cache-control: no-store/);
});

test('values that are no plain text are left to Node, empty ones are sent', async () => {
  const found = await same([CLOSED], [{ 'set-cookie': ['a=1', 'b=2'], 'x-empty': '', 'x-seven': 7 }, BODY, {}]);
  assert.match(found, /set-cookie: a=1\r\nset-cookie: b=2/);
});

test('a header that is not there is not sent', async () => {
  const written: Write = (response) => writeHead(response, { 'x-a': undefined }, { 'x-b': undefined, ...BODY }, {});
  assert.doesNotMatch(await bytesOf([CLOSED], [written]), /x-[ab]/);
});

test('what cannot stand in a header is refused, also behind a value that could', async () => {
  for (const [name, value] of [
    ['x-a', 'a\r\nx-evil: 1'],
    ['x-a', '\u4e00'],
    ['x-a\r\nx-evil', 'a'],
    ['', 'a'],
  ] as const) {
    let refused: unknown;
    const write: Write = (response) => {
      writeHead(response, {}, {}, { 'x-a': 'fine' });
    };
    const bad: Write = (response) => {
      try {
        writeHead(response, {}, {}, { [name]: value });
      } catch (error) {
        refused = error;
      }
    };
    const found = await bytesOf([KEPT, CLOSED], [write, bad]);
    assert.ok(refused instanceof TypeError, `${name}: ${value}`);
    assert.doesNotMatch(found, /evil/);
    // The good value again: what was refused is not what was remembered.
    assert.match(await bytesOf([CLOSED], [write]), /x-a: fine\r\n/);
  }
});

test('more names than are remembered are sent all the same', async () => {
  for (let round = 0; round < 3; round += 1) {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`x-${round}-${index}`, `${round}`]));
    await same([CLOSED], [many, BODY, {}]);
  }
});

test('there is one head, and a second one is refused', async () => {
  let refused: unknown;
  await bytesOf(
    [CLOSED],
    [
      (response) => {
        writeHead(response, SHARED, BODY, {});
        try {
          writeHead(response, SHARED, BODY, {});
        } catch (error) {
          refused = error;
        }
      },
    ],
  );
  assert.equal((refused as NodeJS.ErrnoException).code, 'ERR_HTTP_HEADERS_SENT');
});
