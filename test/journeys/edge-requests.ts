import { CHATS, HI } from './edge-world.ts';

export const HOST = 'host: localhost\r\n';
export const { path: CHAT } = CHATS[1];
export const BODY = JSON.stringify(HI);
export const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
export const post = (headers: string, body: string): string =>
  `POST ${CHAT} HTTP/1.1\r\n${HOST}content-type: application/json\r\n${headers}\r\n${body}`;
export const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\n${HOST}${headers}\r\n`;
/** The head of a request with a body of JSON. */
export const head = (path: string, ...headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, 'host: localhost', 'content-type: application/json', ...headers, '', ''].join('\r\n');
/** A body whose message has that many characters. */
export const saying = (size: number): Buffer =>
  Buffer.from(JSON.stringify({ ...HI, messages: [{ role: 'user', content: 'a'.repeat(size) }] }));
/** A second request that nobody may see. */
export const SMUGGLED = get('/backend-api/v2/create?prompt=smuggled');

/** Requests about whose end two servers could differ. */
export const AMBIGUOUS: Readonly<Record<string, string>> = {
  'length and chunks': post(
    `content-length: ${BODY.length}\r\ntransfer-encoding: chunked\r\n`,
    `${chunk(BODY)}0\r\n\r\n${SMUGGLED}`,
  ),
  'chunks and length': post('transfer-encoding: chunked\r\ncontent-length: 4\r\n', `0\r\n\r\n${SMUGGLED}`),
  'two lengths': post(`content-length: ${BODY.length}\r\ncontent-length: 0\r\n`, `${BODY}${SMUGGLED}`),
  'two equal lengths': post(`content-length: ${BODY.length}\r\ncontent-length: ${BODY.length}\r\n`, BODY),
  'a list of lengths': post(`content-length: ${BODY.length}, ${BODY.length}\r\n`, BODY),
  'a negative length': post('content-length: -1\r\n', BODY),
  'a length with a sign': post(`content-length: +${BODY.length}\r\n`, BODY),
  'a hexadecimal length': post(`content-length: 0x${BODY.length.toString(16)}\r\n`, BODY),
  'a length with a fraction': post(`content-length: ${BODY.length}.0\r\n`, BODY),
  'an empty length': post('content-length:\r\n', BODY),
  'a length of words': post('content-length: ten\r\n', BODY),
  'an endless length': post(`content-length: ${'9'.repeat(30)}\r\n`, BODY),
  'a space before the colon': post(`content-length : ${BODY.length}\r\n`, BODY),
  'a folded length': post(`content-length:\r\n ${BODY.length}\r\n`, BODY),
  'two encodings': post(
    'transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n',
    `${chunk(BODY)}0\r\n\r\n${SMUGGLED}`,
  ),
  'an unknown encoding': post('transfer-encoding: xchunked\r\n', `${chunk(BODY)}0\r\n\r\n`),
  'an encoding behind chunks': post('transfer-encoding: chunked, identity\r\n', `${chunk(BODY)}0\r\n\r\n`),
  'an encoding with a tab': post('transfer-encoding:\vchunked\r\n', `${chunk(BODY)}0\r\n\r\n`),
  'an encoding in quotes': post('transfer-encoding: "chunked"\r\n', `${chunk(BODY)}0\r\n\r\n`),
  'a space before the encoding': post('transfer-encoding : chunked\r\n', `${chunk(BODY)}0\r\n\r\n`),
  'a chunk without a size': post('transfer-encoding: chunked\r\n', `\r\n${BODY}\r\n0\r\n\r\n`),
  'a chunk of words': post('transfer-encoding: chunked\r\n', `xyz\r\n${BODY}\r\n0\r\n\r\n`),
  'a chunk of negative size': post('transfer-encoding: chunked\r\n', `-1\r\n${BODY}\r\n0\r\n\r\n`),
  'a chunk with 0x': post('transfer-encoding: chunked\r\n', `0x5\r\nhello\r\n0\r\n\r\n`),
  'a chunk of endless size': post('transfer-encoding: chunked\r\n', `${'f'.repeat(20)}\r\n${BODY}`),
  'a chunk longer than its size': post('transfer-encoding: chunked\r\n', `2\r\n${BODY}\r\n0\r\n\r\n${SMUGGLED}`),
  'a chunk with LF only': post('transfer-encoding: chunked\r\n', `${chunk(BODY).replaceAll('\r\n', '\n')}0\n\n`),
  'an extension of 64 KB': post('transfer-encoding: chunked\r\n', `5;x=${'y'.repeat(65_536)}\r\nhello\r\n0\r\n\r\n`),
  'a trailer of 64 KB': post('transfer-encoding: chunked\r\n', `${chunk(BODY)}0\r\nx: ${'y'.repeat(65_536)}\r\n\r\n`),
  'a NUL in a value': get('/v1/models', 'x-a: a\0b\r\n'),
  'a CR in a value': get('/v1/models', 'x-a: a\rb: c\r\n'),
  'a CR at the end of a line': get('/v1/models', 'x-a: a\r\r\n'),
  'a NUL in a name': get('/v1/models', 'x\0a: b\r\n'),
  'a space in a name': get('/v1/models', 'x a: b\r\n'),
  'more headers than are read': get('/v1/models', Array.from({ length: 300 }, (_, at) => `x${at}: a\r\n`).join('')),
  'a line without a colon': get('/v1/models', 'x-a\r\n'),
  'an empty name': get('/v1/models', ': x\r\n'),
  'a line that begins with a space': `GET /v1/models HTTP/1.1\r\n x-a: b\r\n${HOST}\r\n`,
  'a control character in the path': get('/v1/models\u0001'),
  'a space in the path': get('/v1/mo dels'),
  'a tab for a space': `GET\t/v1/models\tHTTP/1.1\r\n${HOST}\r\n`,
  'an unknown version': `GET /v1/models HTTP/3.7\r\n${HOST}\r\n`,
  'a version of words': `GET /v1/models HTTP/x\r\n${HOST}\r\n`,
  'another protocol': `GET /v1/models FTP/1.0\r\n${HOST}\r\n`,
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'an SSH hello': 'SSH-2.0-OpenSSH_9.9\r\n',
  'an SMTP hello': 'EHLO localhost\r\n',
  'a Redis command': '*1\r\n$4\r\nPING\r\n',
  'JSON alone': `${BODY}\r\n\r\n`,
  NULs: '\0'.repeat(1_000),
  'line feeds': `${'\n'.repeat(1_000)}\0`,
  noise: Array.from({ length: 2_000 }, (_, index) => String.fromCharCode((index * 7_919) % 256)).join(''),
};
