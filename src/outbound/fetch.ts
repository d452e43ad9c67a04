import type { IncomingHttpHeaders } from 'node:http';
import { SluiceError } from '../core/errors.ts';
import { type Body, open } from './body.ts';
import type { UpstreamRequest } from './request.ts';
import { LAST_WORDS_MS, type UpstreamClient } from './upstream.ts';

/** Answers that have no body (Fetch standard, "null body status"). */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies UpstreamRequest['method'][];

/**
 * `fetch` for vendor libraries, on the connections that everything else uses. It follows no redirects, has no cookies, and
 * waits until its signal says otherwise: deadlines are routing's business. What goes wrong is a `SluiceError`.
 */
export function createFetch(client: UpstreamClient): typeof fetch {
  return async (input, init) => {
    return toResponse(await ask(client, input, init));
  };
}

/** The head of an answer in the words of the standard, and its body before it is a stream. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Asks what `fetch` would ask with these arguments, for a `fetch` that looks into the body. */
export async function ask(client: UpstreamClient, ...[input, init]: Parameters<typeof fetch>): Promise<Answered> {
  // Neither may stay in memory for as long as the answer takes: hence a function of its own.
  const { request, signal } = await toRequest(input, init);
  const { status, headers, body } = await open(client, request, signal);
  if (status <= 599) return { status, headers: toHeaders(headers), body };
  void body.return();
  throw new SluiceError('upstream_invalid', `The provider answered with status ${status}, which does not exist.`);
}

/** What is done with the bytes of a body on their way. Absent: nothing. */
export interface Passage {
  /** What is read in the place of the bytes; undefined: nothing yet. Throws for what is not taken in. */
  readonly pass?: ((bytes: Buffer) => Uint8Array | undefined) | undefined;
  /** What is read behind the last bytes of a body that has ended well. */
  readonly end?: (() => Uint8Array | undefined) | undefined;
  /** Whether all that matters has been said: a body that goes on in silence is then ended, whatever its connection does. */
  readonly isComplete?: (() => boolean) | undefined;
  /** What is thrown in the place of a failure of the body. */
  readonly failed?: (error: unknown) => unknown;
}

/** An answer as `fetch` gives it. Its body is pulled only: nothing is read ahead here. */
export function toResponse(
  { status, headers, body }: Answered,
  { pass, end, isComplete, failed }: Passage = {},
): Response {
  if (BODILESS.has(status)) {
    body.release();
    return new Response(null, { status, headers });
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          let step: IteratorResult<Buffer>;
          const patience = isComplete?.() === true ? setTimeout(() => void body.return(), LAST_WORDS_MS) : undefined;
          try {
            step = await body.next();
          } catch (error) {
            throw failed === undefined ? error : failed(error);
          } finally {
            clearTimeout(patience);
          }
          try {
            if (step.done === true) {
              const last = end?.();
              if (last !== undefined) controller.enqueue(last);
              return controller.close();
            }
            const bytes = pass === undefined ? step.value : pass(step.value);
            if (bytes !== undefined) return controller.enqueue(bytes);
          } catch (error) {
            void body.return();
            throw error;
          }
        }
      },
      async cancel() {
        await body.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { status, headers });
}

async function toRequest(
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<{ request: UpstreamRequest; signal: AbortSignal }> {
  const isRequest = input instanceof Request;
  // Forms, streams and the like: their bytes and content type are made as the standard says.
  if (isRequest || !isPlain(init.body)) return fromRequest(new Request(input, init));
  const headers = new Headers(init.headers);
  if (typeof init.body === 'string' && !headers.has('content-type')) {
    headers.set('content-type', 'text/plain;charset=UTF-8');
  }
  return {
    request: requestOf(new URL(input), init.method ?? 'GET', headers, bytesOf(init.body)),
    signal: init.signal ?? new AbortController().signal,
  };
}

type PlainBody = string | Uint8Array | null | undefined;

function isPlain(body: unknown): body is PlainBody {
  return body === undefined || body === null || typeof body === 'string' || body instanceof Uint8Array;
}

function bytesOf(body: PlainBody): string | Buffer | undefined {
  if (body === undefined || body === null || typeof body === 'string') return body ?? undefined;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

async function fromRequest(request: Request): Promise<{ request: UpstreamRequest; signal: AbortSignal }> {
  const { url, method, headers, signal } = request;
  const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
  return { request: requestOf(new URL(url), method, headers, body), signal };
}

function requestOf(url: URL, method: string, headers: Headers, body: string | Buffer | undefined): UpstreamRequest {
  const { origin, pathname, search } = url;
  if (!isMethod(method)) throw new TypeError(`The method ${method} is not sent to providers.`);
  return {
    origin,
    path: pathname + search,
    method,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body }),
  };
}

function isMethod(method: string): method is UpstreamRequest['method'] {
  return METHODS.includes(method);
}

function toHeaders(headers: IncomingHttpHeaders): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) all.append(name, each);
  }
  return all;
}
