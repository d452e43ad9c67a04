import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { duplexPair } from 'node:stream';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { PlainRequest, readPlainRequests } from '../../src/http/edge/plain-requests.ts';
import { property } from './cases.ts';
import type { Random } from './random.ts';

const HEADER_BYTES = 2_000;

interface Seen {
  /** Requests that went past the parser. */
  plain: number;
  readonly events: unknown[];
}

/** A server that notes all that it hears, and answers with the body. */
function echo(seen: Seen): Server {
  const server = createServer({ maxHeaderSize: HEADER_BYTES, requireHostHeader: false }, (request, response) => {
    if (request instanceof PlainRequest) seen.plain += 1;
    const { method, url, httpVersion, headers, rawHeaders } = request;
    const pieces: Buffer[] = [];
    request.on('data', (bytes) => pieces.push(bytes));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString('latin1');
      seen.events.push({ method, url, httpVersion, headers: { ...headers }, rawHeaders, body });
      response.sendDate = false;
      response.end(body, 'latin1');
    });
  });
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    seen.events.push(error.code);
    socket.destroy();
  });
  return server;
}

/** What a server makes of bytes that come in these reads. */
async function serve(server: Server, seen: Seen, reads: readonly Buffer[]): Promise<unknown> {
  const [client, socket] = duplexPair();
  let answers = '';
  client.on('data', (bytes) => {
    answers += bytes.toString('latin1');
  });
  client.on('error', () => {});
  server.emit('connection', socket);
  for (const read of reads) {
    if (client.writable) client.write(Buffer.from(read));
    await turn();
  }
  for (let left = 3; left > 0; left -= 1) await turn();
  const isOpen = !socket.destroyed;
  client.destroy();
  socket.destroy();
  return { events: seen.events.splice(0), answers, isOpen };
}

const NAMES = ['x', 'X-Own', 'user_agent', 'accept', 'cookie', 'authorization', 'constructor', 'Content-Type'];
const ODD_LINES = [
  'connection: close',
  'Connection: keep-alive',
  'connection: Keep-Alive, x',
  'transfer-encoding: chunked',
  'expect: 100-continue',
  'upgrade: websocket',
  'host: other',
  'x: 1\r\nX: 2',
  'set-cookie: a=b',
  '__proto__: a',
  ' folded',
  'x : 1',
  'x:',
  'x: \t a \t',
  'x: a ',
  'x: a\t',
  'proxy-connection: close',
  'x: \u00fc',
  'x\u00fc: a',
  'x: a\rb',
  'x: a\nb',
  'content-length: 3',
  'content-length: +3',
  'content-length: 3, 3',
];
/** Of these, what is read in one way only. */
const HARMLESS: ReadonlySet<string> = new Set(['Connection: keep-alive', '__proto__: a']);
const TARGETS = [
  '/',
  '/v1/models',
  '/v1/chat/completions?a=%20&b=+',
  '/é',
  '/a b',
  '*',
  'http://host/a',
  '//a',
  '/a#b',
];

/** Stands for the value of the length. */
const LENGTH = '#length#';

/** Makes requests that differ in their bodies alone, and in what announces these. */
function client(random: Random): () => Buffer {
  const method = random.pick([
    ...Array<string>(9).fill('POST'),
    ...Array<string>(4).fill('GET'),
    'HEAD',
    'PUT',
    'post',
  ]);
  const target = random.chance(0.9) ? random.pick(TARGETS.slice(0, 3)) : random.pick(TARGETS);
  const lines = random.many(random.below(4), () => `${random.pick(NAMES)}: ${random.pick(['a', 'b c', '"q"', 'x:y'])}`);
  if (random.chance(0.98)) lines.unshift('Host: localhost');
  if (method !== 'GET' || random.chance(0.02))
    lines.splice(random.below(lines.length + 1), 0, `Content-Length: ${LENGTH}`);
  if (random.chance(0.1)) lines.splice(random.below(lines.length + 1), 0, random.pick(ODD_LINES));
  if (random.chance(0.02)) lines.push(`x-long: ${'a'.repeat(random.pick([1_500, 1_900, 2_100, 5_000]))}`);
  const version = random.chance(0.97) ? 'HTTP/1.1' : random.pick(['HTTP/1.0', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 ']);
  const head = `${method} ${target} ${version}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
  return () => {
    const body = random.bytes(random.pick([0, 3, 9, 40, 200]));
    const announced = random.chance(0.97)
      ? body.length
      : random.pick([random.below(50), '', '007', '12345678', '3x', ' 3']);
    const bytes = Buffer.from(head.replaceAll(LENGTH, String(announced)), 'latin1');
    const whole = Buffer.concat([bytes, method === 'GET' ? Buffer.alloc(0) : body]);
    return random.chance(0.05) ? spoilt(whole, random) : whole;
  };
}

function spoilt(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  const inserted = random.pick([
    random.bytes(4),
    Buffer.from('\r\n'),
    Buffer.from('\n'),
    Buffer.from('\r'),
    Buffer.from(' '),
  ]);
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + random.below(4))]);
}

/** Requests of one connection: most in a read of their own, often the same ones again. */
function readsOf(random: Random): readonly Buffer[] {
  const clients = random.many(random.between(1, 3), () => client(random));
  const again = random.many(random.between(2, 8), () => random.pick(clients)());
  if (random.chance(0.5)) return again;
  return random.chance(0.3) ? [Buffer.concat(again)] : again.flatMap((each) => random.split(each));
}

describe('requests that are read past the parser', () => {
  test('are what the parser makes of the same bytes', async () => {
    const byParser: Seen = { plain: 0, events: [] };
    const byBoth: Seen = { plain: 0, events: [] };
    const one = echo(byParser);
    const other = echo(byBoth);
    readPlainRequests(other, HEADER_BYTES);
    let connections = 0;
    await property(600, async (random) => {
      const reads = readsOf(random);
      connections += 1;
      const said = JSON.stringify(reads.map((read) => read.toString('latin1')));
      assert.deepEqual(await serve(other, byBoth, reads), await serve(one, byParser, reads), said);
    });
    assert.equal(byParser.plain, 0);
    if (connections > 100) assert.ok(byBoth.plain > connections / 4, `only ${byBoth.plain} of ${connections}`);
  });

  test('are none that say more of their end or of the connection', async () => {
    const seen: Seen = { plain: 0, events: [] };
    const server = echo(seen);
    readPlainRequests(server, HEADER_BYTES);
    const say = (line: string): Buffer =>
      Buffer.from(`POST / HTTP/1.1\r\nHost: localhost\r\n${line}Content-Length: 2\r\n\r\nHi`, 'latin1');
    for (const line of [...ODD_LINES, 'Expect: 200-maybe', 'Upgrade: h2c', 'transfer-encoding: identity']) {
      if (HARMLESS.has(line)) continue;
      seen.plain = 0;
      await serve(server, seen, [say(''), say(`${line}\r\n`)]);
      assert.equal(seen.plain, 0, line);
    }
    for (const line of HARMLESS) {
      seen.plain = 0;
      await serve(server, seen, [say(''), say(`${line}\r\n`)]);
      assert.equal(seen.plain, 1, line);
    }
  });

  test('are those that come whole, and not the first one of a connection', async () => {
    const seen: Seen = { plain: 0, events: [] };
    const server = echo(seen);
    readPlainRequests(server, HEADER_BYTES);
    const say = (body: string): string =>
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const chunked = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    for (const [reads, plain] of [
      [[say('first')], 0],
      [[say('first'), say('second'), say('third one')], 2],
      [[say('first').slice(0, -2), say('first').slice(-2), say('second')], 1],
      [[say('first'), say('in two'.repeat(9)).slice(0, -20), say('in two'.repeat(9)).slice(-20), say('third')], 2],
      [
        [say('first'), say('long'.repeat(30_000)).slice(0, -20), say('long'.repeat(30_000)).slice(-20), say('third')],
        1,
      ],
      [[say('first'), say('in pieces').slice(0, -5), `${say('in pieces').slice(-5)}${say('third')}`, say('fourth')], 1],
      [[say('first'), say('two') + say('at once'), say('third')], 0],
      [[say('first'), chunked, say('third')], 0],
      [[say('first'), say('half of the head').slice(0, 20), say('half of the head').slice(20), say('third')], 0],
    ] as const) {
      seen.plain = 0;
      await serve(
        server,
        seen,
        reads.map((read) => Buffer.from(read)),
      );
      assert.equal(seen.plain, plain, JSON.stringify(reads));
    }
  });
});
