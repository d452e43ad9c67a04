import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AnswerReader, NotHttp } from './answer-reader.ts';

interface Heard {
  readonly told: string[];
  readonly reader: AnswerReader;
}

/** What a reader tells of an answer that comes in these pieces. */
function hear(pieces: readonly string[], reader?: AnswerReader): Heard {
  const told: string[] = [];
  const used =
    reader ??
    new AnswerReader(
      {
        onHead: (status, headers) => void told.push(`${status} ${JSON.stringify(headers)}`),
        onData: (bytes) => void told.push(bytes.toString('latin1')),
        onEnd: () => void told.push('end'),
      },
      1_000,
    );
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1');
    used.push(bytes);
    // What is read next, from whatever connection, comes into the same memory.
    bytes.fill(0);
  }
  return { told, reader: used };
}

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

describe('the reader of answers', () => {
  test('interim answers without end are none', () => {
    const interim = 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100);
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
    assert.throws(() => hear(Array.from({ length: 11 }, () => interim)), NotHttp);
    const { told, reader } = hear([interim, answer]);
    // Those of the request before do not count.
    for (let times = 0; times < 20; times += 1) {
      reader.next();
      hear([interim, answer], reader);
    }
    assert.equal(told.length, 2 * 21);
  });

  for (const [what, text, expected, isFree = true] of [
    ['a counted body', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab', ['200 {"content-length":"2"}', 'ab', 'end']],
    ['no body', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', ['200 {"content-length":"0"}', 'end']],
    ['a status that has none', 'HTTP/1.1 204 No Content\r\n\r\n', ['204 {}', 'end']],
    [
      'a length said twice',
      'HTTP/1.1 200\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\nx',
      ['200 {"content-length":"1, 1"}', 'x', 'end'],
    ],
    [
      'interim answers before it',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\na: b\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx',
      ['200 {"content-length":"1"}', 'x', 'end'],
    ],
    [
      'chunks, as one piece',
      `${CHUNKED}1\r\na\r\n0A;x=y\r\n0123456789\r\n2 \r\nbc\r\n0\r\n\r\n`,
      ['200 {"transfer-encoding":"chunked"}', 'a0123456789bc', 'end'],
    ],
    [
      'chunks of more than one digit, and with a tab behind it',
      `${CHUNKED}9b\t\r\n${'x'.repeat(155)}\r\n${'000C\r\n0123456789ab\r\n'.repeat(5)}0\r\n\r\n`,
      ['200 {"transfer-encoding":"chunked"}', 'x'.repeat(155) + '0123456789ab'.repeat(5), 'end'],
    ],
    ['trailers', `${CHUNKED}1\r\na\r\n0\r\nx: y\r\nz: \r\n\r\n`, ['200 {"transfer-encoding":"chunked"}', 'a', 'end']],
    [
      'chunks and a length',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: Chunked\r\n\r\n0\r\n\r\n',
      ['200 {"content-length":"9","transfer-encoding":"Chunked"}', 'end'],
      false,
    ],
    [
      'a length and no encoding, in the word that once meant that',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: Identity\r\ncontent-length: 2\r\n\r\nab',
      ['200 {"transfer-encoding":"Identity","content-length":"2"}', 'ab', 'end'],
      false,
    ],
    [
      'several cookies, and a header twice',
      'HTTP/1.1 200 OK\r\nset-cookie: a=b\r\nSet-Cookie: c=d, e\r\nx:\t1\r\nX: 2 \r\ncontent-length: 0\r\n\r\n',
      ['200 {"set-cookie":["a=b","c=d, e"],"x":"1, 2","content-length":"0"}', 'end'],
    ],
    [
      'names that objects have',
      'HTTP/1.1 200 OK\r\nconstructor: a\r\ntoString: b\r\ncontent-length: 0\r\n\r\n',
      ['200 {"constructor":"a","tostring":"b","content-length":"0"}', 'end'],
    ],
    [
      'bytes beyond ASCII',
      'HTTP/1.1 200 \xfc\r\nx: \xe9\r\ncontent-length: 1\r\n\r\n\xff',
      ['200 {"x":"\xe9","content-length":"1"}', '\xff', 'end'],
    ],
    [
      'a connection that is to be closed',
      'HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 0\r\n\r\n',
      ['200 {"connection":"x, Close","content-length":"0"}', 'end'],
      false,
    ],
    ['an older server', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', ['200 {"content-length":"0"}', 'end'], false],
    [
      'an older server that keeps the connection',
      'HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 0\r\n\r\n',
      ['200 {"connection":"Keep-Alive","content-length":"0"}', 'end'],
    ],
    [
      'something behind a counted body',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab',
      ['200 {"content-length":"1"}', 'a', 'end'],
      false,
    ],
    ['something behind chunks', `${CHUNKED}0\r\n\r\nx`, ['200 {"transfer-encoding":"chunked"}', 'end'], false],
    [
      'something behind no body',
      'HTTP/1.1 304 x\r\ncontent-length: 5\r\n\r\nx',
      ['304 {"content-length":"5"}', 'end'],
      false,
    ],
  ] as const) {
    test(`reads ${what}`, () => {
      const { told, reader } = hear([text]);
      assert.deepEqual(told, expected);
      assert.equal(reader.isFree, isFree);
      assert.equal(reader.close(), true);
      // Byte by byte, what comes of a body comes in more pieces.
      const slowly = hear([...text]);
      assert.equal(slowly.told.join('').replaceAll('end', ''), expected.join('').replaceAll('end', ''));
      assert.equal(slowly.reader.isFree, isFree);
    });
  }

  test('reads as many chunks as there are, also where each size is padded or says more', () => {
    const chunks = `${'1   \r\na\r\n1;x=y\r\nb\r\n'.repeat(1_000)}0;end\r\nx: y\r\n\r\n`;
    const { told, reader } = hear([CHUNKED, chunks]);
    assert.deepEqual(told.slice(1), ['ab'.repeat(1_000), 'end']);
    assert.equal(reader.isFree, true);
  });

  test('reads a body that ends with the connection', () => {
    const { told, reader } = hear(['HTTP/1.1 200 OK\r\n\r\na', 'b']);
    assert.deepEqual(told, ['200 {}', 'a', 'b']);
    assert.equal(reader.close(), true);
    assert.deepEqual([told.at(-1), reader.isFree], ['end', false]);
  });

  test('reads one answer after another', () => {
    const answer = `${CHUNKED}3\r\nabc\r\n0\r\n\r\n`;
    const first = hear([answer]);
    first.reader.next();
    hear(['HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx'], first.reader);
    assert.deepEqual(first.told.slice(3), ['200 {"content-length":"1"}', 'x', 'end']);
    assert.equal(first.reader.isFree, true);
  });

  for (const [what, text] of [
    ['another protocol', 'SSH-2.0-x\r\n'],
    ['another version', 'HTTP/2 200 OK\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nx\r\ny: z\r\n\r\n'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\ncontent-length : 1\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nx: y\r\n z: 1\r\n\r\n'],
    ['a bare line feed in a header', 'HTTP/1.1 200 OK\r\nx: y\nz: 1\r\n\r\n'],
    ['bare line feeds at the end of a header', 'HTTP/1.1 200 OK\r\nx: y\n\n\r\nz: 1\r\n\r\n'],
    ['bare line feeds in a status line', 'HTTP/1.1 200 OK\n\ncontent-length: 1\r\n\r\nx'],
    ['a head whose lines end with bare line feeds', 'HTTP/1.1 200 OK\nx: y\n\nbody'],
    ['a null in a header', 'HTTP/1.1 200 OK\r\nx: y\0\r\n\r\n'],
    ['a last header without a colon', 'HTTP/1.1 200 OK\r\nx: y\r\ncontent\r\n\r\n'],
    ['headers over the limit', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000)}`],
    ['headers over the limit, at once', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000)}\r\n\r\n`],
    ['a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['a length with a sign', 'HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['three lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1, 2, 1\r\n\r\n'],
    ['an unknown encoding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n'],
    ['a list that begins with none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: identity, chunked\r\n\r\n'],
    ['a list that ends with none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, identity\r\n\r\n'],
    [
      'two headers, one of which says none',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: identity\r\ntransfer-encoding: chunked\r\n\r\n',
    ],
    ['a chunk without a size', `${CHUNKED}\r\n`],
    ['a chunk with an extension and no size', `${CHUNKED};x=y\r\n\r\n`],
    ['a size that ends with a bare carriage return', `${CHUNKED}1\rxa\r\n0\r\n\r\n`],
    ['a second chunk without a size', `${CHUNKED}1\r\na\r\n\r\n`],
    ['a size that is none', `${CHUNKED}zz\r\n`],
    ['a size with a sign', `${CHUNKED}-1\r\n`],
    ['a size beyond all bounds', `${CHUNKED}fffffffffffff\r\n`],
    ['a size of zeros without end', `${CHUNKED}${'0'.repeat(13)}`],
    ['a chunk that is longer than its size', `${CHUNKED}1\r\nabc`],
    ['a chunk that is longer by one', `${CHUNKED}1\r\nab\n0\r\n\r\n`],
    ['a chunk with something between its end and the next', `${CHUNKED}1\r\na\rb0\r\n\r\n`],
    ['a chunk that ends with a bare line feed', `${CHUNKED}1\r\na\n0\r\n\r\n`],
    ['a chunk that ends with a bare carriage return', `${CHUNKED}1\r\na\r0\r\n\r\n`],
    ['a size that ends with a bare line feed', `${CHUNKED}1\na`],
    ['an extension without end', `${CHUNKED}1;${'x'.repeat(1_001)}`],
    ['trailers without end', `${CHUNKED}0\r\n${'x: y\r\n'.repeat(200)}`],
  ] as const) {
    test(`refuses ${what}`, () => {
      assert.throws(() => hear([text]), NotHttp);
      assert.throws(() => hear([...text]), NotHttp);
    });
  }

  for (const text of [
    '',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na',
    `${CHUNKED}2\r\na`,
    `${CHUNKED}0\r\n`,
  ]) {
    test(`a connection may not end after ${JSON.stringify(text.slice(-20))}`, () => {
      const { reader, told } = hear([text]);
      assert.equal(reader.isFree, false);
      assert.equal(reader.close(), false);
      assert.notEqual(told.at(-1), 'end');
    });
  }
});
