import type { Ask } from '../support/raw-http.ts';
import type { Random } from './random.ts';
import { hostile, type Schema, type SchemaValues, spoilt } from './schema-values.ts';

/** An operation of the document, as far as requests are made of it. */
export interface Operation {
  readonly method: string;
  /** With `{parameters}`. */
  readonly path: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  /** The schemas of its body by content type. */
  readonly bodies: Readonly<Record<string, Schema>>;
}

/** How well a request fits its description. */
export type Fit = 'fitting' | 'near' | 'hostile';

export function requestTo(operation: Operation, values: SchemaValues, random: Random, fit: Fit): Ask {
  const { method, parameters, bodies } = operation;
  const place = (where: string) => parameters.filter((each) => each.in === where);
  const valueFor = (name: string, schema: Schema): unknown => {
    // Ids mean something else on every path.
    const value = values.fitting(schema, random, `${operation.path} ${name}`);
    if (fit === 'fitting' || random.chance(fit === 'near' ? 0.8 : 0.3)) return value;
    return hostile(random);
  };
  let path = operation.path;
  for (const { name, schema } of place('path'))
    path = path.replace(`{${name}}`, () => inPath(valueFor(name, schema), random, fit));
  const query = new URLSearchParams();
  for (const { name, schema, required } of place('query')) {
    if (required !== true && random.chance(0.5)) continue;
    query.append(name, textOf(valueFor(name, schema)));
    if (fit === 'hostile' && random.chance(0.2)) query.append(name, textOf(hostile(random)));
  }
  if (fit === 'hostile' && random.chance(0.3)) query.append(random.text(3), textOf(hostile(random)));
  const search = [...query].length === 0 ? '' : `?${spoiltText(query.toString(), random, fit === 'hostile' ? 0.2 : 0)}`;
  const types = Object.keys(bodies);
  const headers: Record<string, string | string[]> = headersOf(random, fit);
  if (types.length === 0) return { method, path: path + search, headers };
  const type = random.pick(types);
  const schema = bodies[type] ?? {};
  const fitting = values.fitting(schema, random);
  const body =
    fit === 'fitting'
      ? fitting
      : fit === 'near'
        ? spoilt(fitting, random)
        : random.chance(0.4)
          ? hostile(random)
          : spoilt(spoilt(fitting, random), random);
  const encoded =
    type === 'multipart/form-data'
      ? formOf(body, random, fit)
      : { type, bytes: Buffer.from(JSON.stringify(body) ?? '') };
  const bytes = fit === 'hostile' && random.chance(0.25) ? spoiltBytes(encoded.bytes, random) : encoded.bytes;
  const named = fit === 'hostile' && random.chance(0.1) ? random.pick(OTHER_TYPES) : encoded.type;
  return { method, path: path + search, headers: { ...headers, 'content-type': named }, body: bytes };
}

const OTHER_TYPES = [
  'text/plain',
  'application/json; charset=utf-16',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'a',
  '',
];

/** What clients add, and what attackers do. */
function headersOf(random: Random, fit: Fit): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, ...given] of HEADERS) {
    if (!random.chance(0.06)) continue;
    headers[name] =
      fit === 'fitting'
        ? random.pick(given)
        : random.chance(0.5)
          ? headerText(textOf(hostile(random)))
          : random.pick(given);
  }
  return headers;
}

const HEADERS: readonly (readonly [string, ...string[]])[] = [
  ['authorization', 'Bearer a-key', 'Basic YTpi', 'Bearer'],
  ['x-api-key', 'a-key'],
  ['x-goog-api-key', 'a-key'],
  ['anthropic-version', '2023-06-01'],
  ['anthropic-beta', 'files-api-2025-04-14'],
  ['x-sluice-strict', '1', '0', 'true'],
  ['accept', 'text/event-stream', '*/*', 'application/x-ndjson'],
  ['accept-encoding', 'gzip', 'br;q=0, *'],
  ['range', 'bytes=0-1', 'bytes=-5', 'bytes=9-2, 0-'],
  ['if-none-match', '*', '"x"', 'W/"x"'],
  ['if-modified-since', 'Fri, 20 Nov 2026 10:00:00 GMT'],
  ['last-event-id', '0', '7'],
  ['cookie', 'share=1; a=b', 'sluice_key=x'],
  ['x-forwarded-proto', 'https', 'javascript'],
  ['x-forwarded-for', '8.8.8.8'],
  ['x-session-id', 's-1'],
  ['idempotency-key', 'i-1'],
  ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-0-0-0'],
  ['x-stainless-helper-method', 'stream'],
];

/** Node sends no others; what they do is tried byte by byte in edge-protocol.test.ts. */
function headerText(text: string): string {
  return text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 4_000);
}

function inPath(value: unknown, random: Random, fit: Fit): string {
  const text = textOf(value);
  // Names of models keep their slashes.
  const encoded = random.chance(0.5)
    ? encodeURI(text.toWellFormed()).replace(/[?#]/g, encodeURIComponent)
    : encodeURIComponent(text.toWellFormed());
  return spoiltText(encoded, random, fit === 'hostile' ? 0.2 : 0).slice(0, 7_000);
}

/** Sometimes with a piece of it lost, so that `%` stands alone. Only what may stand in a request line. */
function spoiltText(text: string, random: Random, likelihood: number): string {
  if (!random.chance(likelihood) || text === '') return text;
  const at = random.below(text.length);
  return (
    text.slice(0, at) +
    random.pick(['', '%', '%00', '%c0%ae', '%ff', '..;/', '%2f', '%5c', '//', '%u002e', '&=', '[', '+']) +
    text.slice(at + random.below(3))
  );
}

function spoiltBytes(bytes: Buffer, random: Random): Buffer {
  if (bytes.length === 0) return random.bytes();
  const at = random.below(bytes.length);
  if (random.chance(0.4)) return bytes.subarray(0, at);
  return Buffer.concat([bytes.subarray(0, at), random.bytes(4), bytes.subarray(at + random.below(4))]);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** A form as multipart/form-data (RFC 7578). */
function formOf(value: unknown, random: Random, fit: Fit): { readonly type: string; readonly bytes: Buffer } {
  const boundary = fit === 'hostile' && random.chance(0.1) ? 'x'.repeat(random.pick([1, 71, 300])) : 'a-boundary';
  const pieces: Buffer[] = [];
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [['file', value] as const];
  for (const [name, member] of members) {
    for (const each of Array.isArray(member) ? member : [member])
      pieces.push(partOf(name, each, boundary, random, fit));
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(pieces) };
}

const FILES = ['file', 'files', 'image', 'mask', 'audio', 'image[]'];

function partOf(name: string, value: unknown, boundary: string, random: Random, fit: Fit): Buffer {
  const isFile = FILES.includes(name) || random.chance(0.05);
  const quoted = name.replace(/[\r\n]/g, ' ').replaceAll('"', fit === 'hostile' ? '"' : '%22');
  const filename =
    fit === 'fitting'
      ? random.pick(FILE_NAMES)
      : random.pick([...FILE_NAMES, '../../x.txt', 'a\u0000.png', random.text(5).replace(/[\r\n]/g, '')]);
  const content = isFile
    ? random.pick([...CONTENTS, random.bytes(200)])
    : name === 'json'
      ? JSON.stringify(random.chance(0.8) ? CHAT : value)
      : textOf(value);
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted}"${isFile ? `; filename="${filename}"\r\nContent-Type: ${random.pick(FILE_TYPES)}` : ''}\r\n\r\n`;
  return Buffer.concat([
    Buffer.from(head),
    typeof content === 'string' ? Buffer.from(content ?? '') : content,
    Buffer.from('\r\n'),
  ]);
}

const CHAT = { model: 'acme/test-model', messages: [{ role: 'user', content: 'Hi' }] };
const FILE_NAMES = [
  'a.txt',
  'a.png',
  'a.wav',
  'cookies.json',
  'page.html',
  'a.csv',
  'a.pdf',
  'a.docx',
  'a.ipynb',
  'a.eml',
  'cookies.txt',
  'a.har',
  'downloads.json',
  'a.zip',
];
const FILE_TYPES = ['text/plain', 'image/png', 'audio/wav', 'application/json', 'application/octet-stream', 'x', ''];
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const CONTENTS: readonly (string | Buffer)[] = [
  ...[
    '',
    'Hello',
    PNG,
    PNG.subarray(0, 30),
    '<html><body>Hi',
    'a,b\n1,"2',
    '{"cells":[]}',
    '%PDF-1.4\n',
    'PK\u0003\u0004',
    '[]',
  ],
  ...[
    '[{"domain":".a.example","name":"a","value":"b"}]',
    '{"log":{"entries":[]}}',
    '.a.example\tTRUE\t/\tTRUE\t0\ta\tb\n',
  ],
  ...['[{"url":"http://127.0.0.1:1/"}]', 'RIFF\u0024\u0000\u0000\u0000WAVEfmt '],
];
