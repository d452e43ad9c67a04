import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { constants, createDeflate, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { completionOf, errorOf, eventsOf } from './openai-format.ts';
import type { Handler, SeenRequest } from './seen-request.ts';

/** What a client of the gateway must see when it asks for a stream (or, where the fault says so, for a whole answer). */
export type Expected =
  /** The whole answer, byte-exact, with a normal end. */
  | { readonly kind: 'text'; readonly text: string }
  /** Exactly this text, then a visible error, never a normal end. */
  | { readonly kind: 'cut'; readonly text: string }
  /** One of these statuses and a JSON error, since nothing was visible yet. */
  | { readonly kind: 'error'; readonly status: readonly number[] };

export interface Fault {
  readonly expected: Expected;
  readonly answer: Handler;
  /** false: shows only in answers without streaming. */
  readonly stream?: false;
  /** The upstream falls silent, so the test should set short deadlines. */
  readonly silent?: true;
}

/** Letters of one to four bytes, everything that JSON escapes, and what looks like framing. */
const PIECES = [
  'Grüße, ',
  '世界',
  ' 🌍👩‍👩‍👧!\n',
  '"quoted" \\ and\ttabs, ',
  'data: [DONE]\n\n',
  '</script>\u2028',
  'end.',
];
const TEXT = PIECES.join('');
/** What is sent before a stream breaks. */
const STARTED = PIECES.slice(0, 3).join('');
const LONG = 'x'.repeat(1024 * 1024);

const whole: Expected = { kind: 'text', text: TEXT };
const broken: Expected = { kind: 'cut', text: STARTED };
const refused = (...status: number[]): Expected => ({ kind: 'error', status });

const EVENT_STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };
const JSON_TYPE = { 'content-type': 'application/json' };

/** The data of all events of the usual answer. */
function usual(request: SeenRequest, text: readonly string[] = PIECES): string[] {
  return [...eventsOf({ text }, request)];
}

/** The data of the events up to the middle of the answer, and not one more. */
function firstHalf(request: SeenRequest): string[] {
  return usual(request).slice(0, 4);
}

const frame = (data: string): string => `data: ${data}\n\n`;
const framed = (events: readonly string[]): string => events.map(frame).join('');

export interface RawAnswer {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  /** Written one by one, so that they arrive as chunks of their own. */
  readonly pieces: Iterable<string | Buffer>;
  /** Between pieces. Default: one turn of the event loop. */
  readonly delayMs?: number;
}

/** Sends exactly these bytes with these borders. */
export async function sendRaw(request: SeenRequest, response: ServerResponse, answer: RawAnswer): Promise<void> {
  await writeRaw(request, response, answer);
  response.end();
}

async function writeRaw(request: SeenRequest, response: ServerResponse, answer: RawAnswer): Promise<void> {
  response.writeHead(answer.status ?? 200, answer.headers ?? EVENT_STREAM);
  for (const piece of answer.pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), request.closed]);
    await (answer.delayMs === undefined ? turn() : sleep(answer.delayMs));
  }
}

/** The usual answer as one text, framed by `write`. */
function written(write: (events: string[]) => string | Buffer, headers?: OutgoingHttpHeaders): Handler {
  return (request, response) =>
    sendRaw(request, response, { ...(headers && { headers }), pieces: [write(usual(request))] });
}

/** A changed list of events, each written by itself. */
function changed(change: (events: string[]) => readonly string[]): Handler {
  return (request, response) => sendRaw(request, response, { pieces: change(usual(request)).map(frame) });
}

/** One fixed answer. */
function fixed(status: number, headers: OutgoingHttpHeaders, body: string | Buffer): Handler {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

/** Bytes straight on the connection, instead of an HTTP answer. */
function onSocket(bytes: (request: SeenRequest) => string | Buffer): Handler {
  return (request, response) => void response.socket?.end(bytes(request));
}

/** A beginning, and then the same letter for ever, as fast as it is taken. */
function endless(status: number, headers: OutgoingHttpHeaders, start: string): Handler {
  function* pieces(): Generator<string> {
    yield start;
    while (true) yield LONG;
  }
  return (request, response) => sendRaw(request, response, { status, headers, pieces: pieces() });
}

/** The same event for ever, as fast as it is taken. */
function endlessly(event: string): Handler {
  const many = event.repeat(Math.ceil(LONG.length / event.length));
  return async (request, response) => {
    response.writeHead(200, EVENT_STREAM);
    while (!response.destroyed) {
      if (!response.write(many)) await Promise.race([once(response, 'drain'), request.closed]);
    }
  };
}

function bytewise(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

/** Each event compressed and flushed by itself, as proxies do that compress on the fly. */
function compressed(name: 'gzip' | 'deflate'): Handler {
  return async (request, response) => {
    response.writeHead(200, { ...EVENT_STREAM, 'content-encoding': name });
    const encoder = name === 'gzip' ? createGzip() : createDeflate();
    encoder.pipe(response);
    for (const event of usual(request)) {
      encoder.write(frame(event));
      await new Promise<void>((resolve) => encoder.flush(constants.Z_SYNC_FLUSH, resolve));
    }
    encoder.end();
  };
}

const HTML =
  '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502</h1>cloudflare</body></html>';

/** What upstreams and the networks before them really do, by the name of the model that brings it about. */
export const faults = {
  // ── Borders and framing: all of it is allowed by the event-stream format or harmless ──

  /** Slow networks and TLS records give any borders, in the worst case a byte at a time. */
  'fault-one-byte': {
    expected: whole,
    answer: (request, response) =>
      sendRaw(request, response, { pieces: bytewise(Buffer.from(framed(usual(request))), 1) }),
  },
  /** Borders inside of letters and of `data:`. */
  'fault-seven-bytes': {
    expected: whole,
    answer: (request, response) =>
      sendRaw(request, response, { pieces: bytewise(Buffer.from(framed(usual(request))), 7) }),
  },
  /** A burst: everything in one write. */
  'fault-at-once': { expected: whole, answer: written(framed) },
  /** Gateways on Windows and some Python servers (sse-starlette's default) end lines with CRLF. */
  'fault-crlf': { expected: whole, answer: written((events) => framed(events).replaceAll('\n', '\r\n')) },
  /** CRLF with a border between CR and LF. */
  'fault-crlf-split': {
    expected: whole,
    answer: (request, response) => {
      const text = framed(usual(request)).replaceAll('\n', '\r\n');
      return sendRaw(request, response, { pieces: text.split(/(?<=\r)/) });
    },
  },
  /** The format also allows a lone CR. */
  'fault-cr': { expected: whole, answer: written((events) => framed(events).replaceAll('\n', '\r')) },
  /** A byte order mark in front, from .NET's default encoder. */
  'fault-bom': { expected: whole, answer: written((events) => `\ufeff${framed(events)}`) },
  /** OpenRouter sends `: OPENROUTER PROCESSING` while it waits, others `: ping`. */
  'fault-comments': {
    expected: whole,
    answer: written(
      (events) => `: OPENROUTER PROCESSING\n\n:\n\n${events.map((event) => `: ping\n${frame(event)}:\n`).join('')}`,
    ),
  },
  /** Further fields, which the format defines and chat completions do not use. */
  'fault-fields': {
    expected: whole,
    answer: written((events) =>
      events.map((event, index) => `event: message\nid: ${index}\nretry: 3000\nx-own: 1\n${frame(event)}`).join(''),
    ),
  },
  /** No space after the colon (several Chinese services). */
  'fault-no-space': {
    expected: whole,
    answer: written((events) => events.map((event) => `data:${event}\n\n`).join('')),
  },
  /** Pretty-printed JSON over several data lines, which are joined with line feeds. */
  'fault-data-lines': {
    expected: whole,
    answer: written((events) =>
      events
        .map((event) =>
          event === '[DONE]'
            ? frame(event)
            : frame(JSON.stringify(JSON.parse(event), null, 2).replaceAll('\n', '\ndata: ')),
        )
        .join(''),
    ),
  },
  /** Single line feeds at the end, so that the last event is never closed by an empty line. */
  'fault-unclosed-event': { expected: whole, answer: written((events) => framed(events).trimEnd()) },
  /** Compression that nobody asked for. */
  'fault-gzip': { expected: whole, answer: compressed('gzip') },
  'fault-deflate': { expected: whole, answer: compressed('deflate') },
  /** Event streams under the name of something else: `text/plain`, JSON, or no name at all. */
  'fault-wrong-type': { expected: whole, answer: written(framed, JSON_TYPE) },
  'fault-no-type': { expected: whole, answer: written(framed, {}) },
  /** A megabyte in one event: an image as `data:` URI, or a whole chain of thought. */
  'fault-long-line': {
    expected: { kind: 'text', text: LONG },
    answer: (request, response) => sendRaw(request, response, { pieces: usual(request, [LONG]).map(frame) }),
  },
  /** An old proxy: HTTP/1.0, no length, and the end of the connection ends the answer. */
  'fault-http10': {
    expected: whole,
    answer: onSocket(
      (request) => `HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${framed(usual(request))}`,
    ),
  },
  /** Informational answers before the real one (RFC 9110 §15.2), as CDNs send them. */
  'fault-informational': {
    expected: whole,
    answer: async (request, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: '</x.css>; rel=preload; as=style' });
      await written(framed)(request, response);
    },
  },

  // ── Events: odd, but the answer is there ──

  /** Ollama's early versions and others end with the connection alone. */
  'fault-no-done': { expected: whole, answer: changed((events) => events.filter((event) => event !== '[DONE]')) },
  /** Some never name a reason, but say that they are done. */
  'fault-no-finish': {
    expected: whole,
    answer: changed((events) => events.filter((event) => !event.includes('"finish_reason":"'))),
  },
  /** Azure begins with a chunk of content filter results that has no choices. */
  'fault-empty-choices': {
    expected: whole,
    answer: changed((events) => [
      '{"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}',
      ...events,
    ]),
  },
  /** `null` and nothing where text could stand. */
  'fault-null-content': {
    expected: whole,
    answer: changed((events) => [
      '{"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}',
      '{"choices":[{"index":0,"delta":{},"finish_reason":null}]}',
      '{"choices":[{"index":0,"delta":null,"finish_reason":""}]}',
      ...events,
    ]),
  },
  /** Usage in an event without any choices, and `null` for them. */
  'fault-usage-only': {
    expected: whole,
    answer: changed((events) => [
      ...events.slice(0, -1),
      '{"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}',
      '{"choices":null,"usage":null}',
      '[DONE]',
    ]),
  },
  /** Lines that belong to no format: log output on the wrong stream, broken proxies. */
  'fault-garbage-lines': {
    expected: whole,
    answer: (request, response) =>
      sendRaw(request, response, {
        pieces: usual(request).flatMap((event) => [
          'INFO: 127.0.0.1 - "POST" 200 OK\n',
          'data: {not json\n\n',
          frame(event),
          '\xff\0\n',
        ]),
      }),
  },
  /** Models and proxies that cannot stream answer with one JSON text. */
  'fault-json-for-stream': {
    expected: whole,
    answer: (request, response) =>
      void response.writeHead(200, JSON_TYPE).end(JSON.stringify(completionOf({ text: PIECES }, request.model))),
  },
  /** DeepSeek sends empty lines until there is an answer, which may then come along with many of them. */
  'fault-empty-lines': {
    expected: whole,
    answer: (request, response) =>
      sendRaw(request, response, {
        headers: JSON_TYPE,
        pieces: ['\n', `${'\n'.repeat(100)}${JSON.stringify(completionOf({ text: PIECES }, request.model))}`],
        delayMs: 20,
      }),
  },
  'fault-empty-lines-stream': {
    expected: whole,
    answer: (request, response) =>
      sendRaw(request, response, { pieces: ['\n', `${'\n'.repeat(100)}${framed(usual(request))}`], delayMs: 20 }),
  },
  /** A byte order mark that does not come in one. */
  'fault-mark-split': {
    expected: whole,
    answer: (request, response) => {
      const bytes = Buffer.from(`\ufeff${JSON.stringify(completionOf({ text: PIECES }, request.model))}`);
      const pieces = [bytes.subarray(0, 1), bytes.subarray(1, 2), bytes.subarray(2)];
      return sendRaw(request, response, { headers: JSON_TYPE, pieces, delayMs: 20 });
    },
  },
  'fault-mark-split-stream': {
    expected: whole,
    answer: (request, response) => {
      // Without the event that only names the role: it would not be missed.
      const bytes = Buffer.from(`\ufeff${framed(usual(request).slice(1))}`);
      return sendRaw(request, response, { pieces: [bytes.subarray(0, 1), bytes.subarray(1)], delayMs: 20 });
    },
  },
  /** Others can do nothing but stream. */
  'fault-stream-for-json': { expected: whole, stream: false, answer: written(framed) },
  /** The stream is over, but the connection stays open for ever. */
  'fault-open-after-done': {
    expected: whole,
    answer: (request, response) => writeRaw(request, response, { pieces: usual(request).map(frame) }),
  },

  // ── Answers that break in the middle ──

  /** OpenRouter, Groq and others report failures of the model inside of the stream. */
  'fault-error-event': {
    expected: broken,
    answer: (request, response) =>
      sendRaw(request, response, {
        pieces: [...firstHalf(request), '{"error":{"message":"The model crashed","code":502}}', '[DONE]'].map(frame),
      }),
  },
  /** A worker is restarted: the connection is reset. */
  'fault-reset': {
    expected: broken,
    answer: async (request, response) => {
      await writeRaw(request, response, { pieces: firstHalf(request).map(frame) });
      await sleep(20);
      response.socket?.resetAndDestroy();
    },
  },
  /** The connection is closed in an orderly way, but the answer is not. */
  'fault-close': {
    expected: broken,
    answer: async (request, response) => {
      await writeRaw(request, response, { pieces: firstHalf(request).map(frame) });
      await sleep(20);
      response.socket?.end();
    },
  },
  /** A server that ran out of memory says that it is done, in the middle of a tool call. */
  'fault-done-in-call': {
    expected: broken,
    answer: changed((events) => [
      ...events.slice(0, 4),
      '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\\"p"}}]}}]}',
      '[DONE]',
    ]),
  },
  /** The answer ends properly, yet neither a reason nor `[DONE]` came: somebody in between gave up. */
  'fault-no-end': { expected: broken, answer: changed((events) => events.slice(0, 4)) },
  /** A promised length that never comes. */
  'fault-short': {
    expected: broken,
    answer: async (request, response) => {
      const headers = { ...EVENT_STREAM, 'content-length': '100000' };
      await writeRaw(request, response, { headers, pieces: firstHalf(request).map(frame) });
      await sleep(20);
      response.socket?.end();
    },
  },
  /** A hung worker, or a connection that a firewall forgot. */
  'fault-silent-middle': {
    expected: broken,
    silent: true,
    answer: (request, response) => writeRaw(request, response, { pieces: firstHalf(request).map(frame) }),
  },

  // ── Answers of which nothing can be shown ──

  /** Overloaded queues: the request is accepted and never answered. */
  'fault-silent': { expected: refused(504), silent: true, answer: () => {} },
  /** Headers at once, and then nothing. */
  'fault-silent-body': {
    expected: refused(504),
    silent: true,
    answer: (_request, response) => response.writeHead(200, EVENT_STREAM).flushHeaders(),
  },
  /** Only signs of life, for ever, as of a queue that never gets anywhere. The limit of the whole answer ends it. */
  'fault-only-comments': {
    expected: refused(504),
    silent: true,
    answer: async (_request, response) => {
      response.writeHead(200, EVENT_STREAM);
      while (!response.destroyed) {
        response.write(': ping\n\n');
        await sleep(20);
      }
    },
  },
  /** Status 200, and the failure is the first event. */
  'fault-error-first': {
    expected: refused(429),
    answer: (request, response) =>
      sendRaw(request, response, { pieces: [frame('{"error":{"message":"Slow down","code":429}}')] }),
  },
  /** Status 200 and a JSON error. */
  'fault-error-200': {
    expected: refused(500, 502),
    answer: fixed(200, JSON_TYPE, '{"error":{"message":"No model loaded","type":"server_error"}}'),
  },
  /** A captive portal or a CDN's page, with any status. */
  'fault-html-200': { expected: refused(502), answer: fixed(200, { 'content-type': 'text/html' }, HTML) },
  'fault-html-500': { expected: refused(502), answer: fixed(500, { 'content-type': 'text/html' }, HTML) },
  /** Nothing at all. */
  'fault-empty': { expected: refused(502), answer: fixed(200, EVENT_STREAM, '') },
  'fault-empty-json': { expected: refused(502), answer: fixed(200, JSON_TYPE, '') },
  /** A header that no client should keep. */
  'fault-big-header': {
    expected: refused(502),
    answer: fixed(200, { ...EVENT_STREAM, 'x-big': 'h'.repeat(200 * 1024) }, 'data: [DONE]\n\n'),
  },
  /** The wrong port: something else than HTTP. */
  'fault-not-http': {
    expected: refused(502),
    answer: onSocket(() => Buffer.from('\x15\x03\x01\0\x02\x02\x46SSH-2.0-\xff\xfe', 'latin1')),
  },
  /** A decompression bomb by the number of layers. */
  'fault-stacked-encodings': {
    expected: refused(502),
    answer: (request, response) => {
      let body = Buffer.from(framed(usual(request)));
      for (let layer = 0; layer < 60; layer += 1) body = gzipSync(body);
      response.writeHead(200, { ...EVENT_STREAM, 'content-encoding': Array(60).fill('gzip').join(', ') }).end(body);
    },
  },
  /** A decompression bomb by size: half a gigabyte in one line. */
  'fault-gzip-bomb': {
    expected: refused(502),
    answer: async (request, response) => {
      await writeRaw(request, response, {
        headers: { ...EVENT_STREAM, 'content-encoding': 'gzip' },
        pieces: bomb(512),
      });
      response.end();
    },
  },
  /** Compressed by name only. */
  'fault-not-gzip': {
    expected: refused(502),
    answer: written(framed, { ...EVENT_STREAM, 'content-encoding': 'gzip' }),
  },
  /** An encoding that nobody knows. */
  'fault-unknown-encoding': {
    expected: refused(502),
    answer: written((events) => deflateSync(framed(events)), { ...EVENT_STREAM, 'content-encoding': 'x-secret' }),
  },
  /** A line without end, as fast as it is taken. */
  'fault-endless-line': {
    expected: refused(502),
    answer: endless(200, EVENT_STREAM, 'data: {"choices":"'),
  },
  /** A JSON answer without end. */
  /** A proxy that writes its log into the stream, a model server in a loop: nothing that anybody could read, without end. */
  'fault-endless-garbage': { expected: refused(502), answer: endlessly('data: garbage\n\n') },
  'fault-endless-truncated': { expected: refused(502), answer: endlessly('data: {"choices":\n\n') },
  'fault-endless-lines': { expected: refused(502), answer: endlessly('DEBUG\n') },
  /** Signs of life, of an upstream that has none. */
  'fault-endless-comments': { expected: refused(502), answer: endlessly(`: ${LONG}\n\n`) },
  'fault-endless-json': {
    expected: refused(502),
    answer: endless(200, JSON_TYPE, '{"choices":"'),
  },
  /** Reset before the first byte, every time. */
  'fault-reset-early': {
    expected: refused(502),
    answer: (_request, response) => void response.socket?.resetAndDestroy(),
  },
  /** A redirect to another host, which must not get the key. A client that follows it shows up as a request for `/stolen`. */
  'fault-redirect': {
    expected: refused(502),
    answer: (request, response) => {
      const port = request.headers.host?.split(':')[1];
      response.writeHead(307, { location: `http://localhost:${port}/stolen` }).end();
    },
  },
  /** A rate limit, with a time that is longer than anyone wants to wait. */
  'fault-rate-limited': {
    expected: refused(429),
    answer: fixed(429, { ...JSON_TYPE, 'retry-after': '30' }, JSON.stringify(errorOf(429, 'Rate limit reached'))),
  },
  /** Failures that may pass: worth another attempt, each time the same. */
  'fault-500': {
    expected: refused(500, 502),
    answer: fixed(500, JSON_TYPE, JSON.stringify(errorOf(500, 'Internal error'))),
  },
  'fault-503': {
    expected: refused(502, 503),
    answer: fixed(503, JSON_TYPE, JSON.stringify(errorOf(503, 'Overloaded'))),
  },
  /** Failures that will not pass: the request itself or the key is at fault. */
  'fault-400': {
    expected: refused(400),
    answer: fixed(400, JSON_TYPE, JSON.stringify(errorOf(400, 'Context too long'))),
  },
  'fault-401': {
    expected: refused(401),
    answer: fixed(401, JSON_TYPE, JSON.stringify(errorOf(401, 'Incorrect API key'))),
  },
  /** An error text without end. */
  'fault-endless-error': {
    expected: refused(500, 502),
    answer: endless(500, JSON_TYPE, '{"error":{"message":"'),
  },

  // ── Connections that are kept and then are not there: a good answer is possible ──

  /** The idle connection is closed right after the answer, without a word of it. */
  'fault-closes-idle': {
    expected: whole,
    answer: async (request, response) => {
      const { socket } = response;
      await written(framed)(request, response);
      await request.closed;
      socket?.end();
    },
  },
  /** The second request on a connection meets a reset: the upstream's idle limit ran out while it was on its way. */
  'fault-resets-reused': {
    expected: whole,
    answer: (request, response) => {
      if (request.before > 0) response.socket?.resetAndDestroy();
      else return written(framed)(request, response);
    },
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;

/** The catalogue for tests that go through all of it. */
export const faultList = Object.entries(faults) as readonly (readonly [name: FaultName, fault: Fault])[];

/** A gzip stream that unpacks to so many megabytes of one line, cheaply: the same compressed block over and over. */
function* bomb(megabytes: number): Generator<Buffer> {
  yield Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]); // gzip's header (RFC 1952), then raw deflate blocks
  const flush = { finishFlush: constants.Z_FULL_FLUSH };
  yield deflateRawSync(Buffer.from('data: {"choices":"'), flush);
  const block = deflateRawSync(Buffer.alloc(16 * 1024 * 1024, 'x'), flush);
  for (let sent = 0; sent < megabytes; sent += 16) yield block;
}

export interface Flood {
  readonly handle: Handler;
  /** Bytes that the network took so far. */
  readonly taken: number;
}

/** Events as fast as they are taken, `bytes` in all, and then a normal end: for tests of back-pressure. */
export function flood(bytes = 200 * 1024 * 1024): Flood {
  const piece = 'f'.repeat(64 * 1024);
  let taken = 0;
  return {
    get taken() {
      return taken;
    },
    async handle(request, response) {
      response.writeHead(200, EVENT_STREAM);
      const [start = '', content = '', ...end] = usual(request, [piece]).map(frame);
      response.write(start);
      for (let sent = 0; sent < bytes && !response.destroyed; sent += content.length) {
        const taking = response.write(content, (error) => {
          if (!error) taken += content.length;
        });
        if (!taking) await Promise.race([once(response, 'drain'), request.closed]);
      }
      response.end(end.join(''));
    },
  };
}
