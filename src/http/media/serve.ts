import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import type { ByteRange, OpenFile } from '../../core/stores.ts';
import { sendNotModified } from '../not-modified.ts';

/** What routes say of a file from `serve`. */
export const SERVED = {
  answerHeaders: z.object({
    etag: z.string().describe('The version of the bytes, for `If-None-Match` and `If-Range`'),
    'last-modified': z.string().describe('When they came, for `If-Modified-Since`'),
    'accept-ranges': z.literal('bytes').describe('A part of them is to be had by `Range`'),
  }),
  statuses: [200, 206, 304],
} as const;

/** A stored file as it is to be served. */
export interface Served {
  /** Bytes, of all of it. */
  readonly size: number;
  readonly mimeType: string;
  /** Changes whenever the bytes do; without quotes. */
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly modified: number;
  readonly cacheControl: string;
  open(range: ByteRange | undefined): Promise<OpenFile | undefined>;
}

/**
 * Serves a file with conditional requests and one range (RFC 9110 §13, §14). Several ranges at once are answered with the
 * whole file, which the RFC allows and a bomb of ranges deserves. Whatever a file is, no browser runs it.
 */
export async function serve(request: FastifyRequest, reply: FastifyReply, served: Served): Promise<FastifyReply> {
  const etag = `"${served.etag}"`;
  const modified = new Date(served.modified).toUTCString();
  reply.headers({
    etag,
    'last-modified': modified,
    'accept-ranges': 'bytes',
    'cache-control': served.cacheControl,
    'content-security-policy': "default-src 'none'; sandbox",
  });
  if (isFresh(request, etag, served.modified)) return sendNotModified(request, reply);
  // Ranges are defined for GET only (RFC 9110 §14.2).
  const isPart = request.method === 'GET' && matchesIfRange(request, etag, modified);
  const asked = isPart ? parseRange(request.headers.range, served.size) : undefined;
  if (asked === 'unsatisfiable') {
    reply.header('content-range', `bytes */${served.size}`);
    throw new SluiceError('invalid_request', `The file has ${served.size} bytes; the range lies beyond them.`, {
      status: 416,
    });
  }
  const length = asked === undefined ? served.size : asked.end - asked.start + 1;
  reply.headers({ 'content-type': served.mimeType, 'content-length': length, 'content-disposition': 'inline' });
  if (asked !== undefined) reply.code(206).header('content-range', `bytes ${asked.start}-${asked.end}/${served.size}`);
  // As a stream: of a text the server would tell the length, which is not the file's.
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  if (length === 0) return reply.send('');
  const file = await served.open(asked);
  if (file === undefined) throw new SluiceError('not_found', 'File not found.');
  return reply.send(Readable.from(file.body, { objectMode: false }));
}

function isFresh(request: FastifyRequest, etag: string, modified: number): boolean {
  const known = request.headers['if-none-match'];
  if (known !== undefined) {
    return known === '*' || known.split(',').some((each) => each.trim().replace(/^W\//, '') === etag);
  }
  const since = Date.parse(request.headers['if-modified-since'] ?? '');
  return Number.isFinite(since) && Math.floor(modified / 1000) * 1000 <= since;
}

function matchesIfRange(request: FastifyRequest, etag: string, modified: string): boolean {
  const condition = request.headers['if-range'];
  return condition === undefined || condition === etag || condition === modified;
}

function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec((header ?? '').trim());
  if (found === null || (found[1] === '' && found[2] === '')) return undefined;
  const [, first = '', last = ''] = found;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (start >= size || (last !== '' && Number(last) < start)) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
