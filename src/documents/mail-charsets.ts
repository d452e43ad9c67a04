import { isGarbledAsWestern } from './garbled.ts';
import { decodeUtf8 } from './text.ts';

/** `Content-Type` with its type and its parameters, and how the body is packed (RFC 2045, §5 and §6). */
const TYPE = /^(content-type:\s*[\w.+/-]+)((?:[^\r\n]|\r?\n[ \t])*)/im;
const PACKED = /^content-transfer-encoding:\s*([\w-]+)/im;
/** What a page says of itself, an equals sign of its own packed or not. */
const DECLARED = /<meta\b[^>]{0,500}?\bcharset\s*=\s*(?:3D)?["']?([\w-]+)/i;
const DECLARED_WITHIN = 4_096;

/**
 * The message with what old programs leave out: the encoding of texts that are not in UTF-8; the headers of the whole, of which
 * nothing can be said, are put into it. What a page says of itself counts, else it is windows-1252 unless that is surely wrong,
 * as with other files.
 */
export function declareCharsets(bytes: Uint8Array): Uint8Array {
  const mail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const pieces: string[] = [];
  let start = 0;
  for (const next of [...partsOf(mail), mail.length]) {
    const part = mail.slice(start, next);
    const headersEnd = /^\r?\n|\n\r?\n/.exec(part);
    const bodyStart = headersEnd === null ? part.length : headersEnd.index + headersEnd[0].length;
    const headers = part.slice(0, bodyStart);
    const body = part.slice(bodyStart);
    pieces.push(declared(start === 0 ? inUtf8(headers) : headers, body), body);
    start = next;
  }
  return Buffer.from(pieces.join(''), 'latin1');
}

/** Where the headers of each part begin, behind the line that separates it from the one before. */
function* partsOf(mail: string): Generator<number> {
  const boundaries = new Set(
    [...mail.matchAll(/\bboundary\s*=\s*(?:"([^"\r\n]+)"|([^\s;"]+))/gi)].map(([, a, b]) => a ?? b),
  );
  for (const line of mail.matchAll(/\n--([^\r\n]{1,100})\r?\n/g))
    if (boundaries.has(line[1]?.trimEnd())) yield line.index + line[0].length;
}

function declared(headers: string, body: string): string {
  const [, type = '', parameters = ''] = TYPE.exec(headers) ?? [];
  if (/charset\s*\*?\d?\*?=/i.test(parameters) || (type !== '' && !/:\s*text\//i.test(type))) return headers;
  const bytes = unpacked(body, PACKED.exec(headers)?.[1] ?? '');
  if (decodeUtf8(bytes) !== undefined) return headers;
  const said = DECLARED.exec(bytes.toString('latin1', 0, DECLARED_WITHIN))?.[1];
  if (said === undefined && isGarbledAsWestern(bytes)) return headers;
  const charset = said ?? 'windows-1252';
  if (type === '') return `Content-Type: text/plain; charset=${charset}\r\n${headers}`;
  return headers.replace(TYPE, `$1; charset=${charset}$2`);
}

function unpacked(body: string, packed: string): Buffer {
  switch (packed.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64');
    case 'quoted-printable': {
      const joined = body.replace(/=[ \t]*\r?\n/g, '');
      return Buffer.from(
        joined.replace(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
        'latin1',
      );
    }
    default:
      return Buffer.from(body, 'latin1');
  }
}

/** Headers that are in windows-1252, against the rules of old, in UTF-8, which the rules allow since. */
function inUtf8(headers: string): string {
  const bytes = Buffer.from(headers, 'latin1');
  if (decodeUtf8(bytes) !== undefined || isGarbledAsWestern(bytes)) return headers;
  return Buffer.from(new TextDecoder('windows-1252').decode(bytes)).toString('latin1');
}
