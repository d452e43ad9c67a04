import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import type { ChatRequest } from '../core/chat.ts';
import { parseId } from './edge/body.ts';

/** A label: text without control characters, at most 256 of them; undefined when there is none. */
export function printable(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 256)
    // The cut may have left half of a pair.
    .replace(/\p{Cs}/gu, '');
  return text === '' ? undefined : text;
}

/** Who asks, as a label for records: the header `x-user` wins over what the body says. */
export function userOf(request: FastifyRequest, ofBody?: unknown): string {
  const header = request.headers['x-user'] ?? request.headers['x_user'];
  return printable(typeof header === 'string' ? asWritten(header) : header) ?? printable(ofBody) ?? 'unknown';
}

/** Whose memory a body asks for: of the user that it names in the field `param`. */
export function memoryOf(memory: unknown, user: unknown, param = 'user'): Pick<ChatRequest, 'memoryUser'> {
  return memory === true && typeof user === 'string' ? { memoryUser: parseId(user, param) } : {};
}

/** Node reads headers as Latin-1, which browsers send; most programs send UTF-8. */
function asWritten(header: string): string {
  if (!/[\x80-\xff]/.test(header)) return header;
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : header;
}
