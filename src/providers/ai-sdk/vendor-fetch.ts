import { SluiceError } from '../../core/errors.ts';
import { broken, type Speaker, statusFailure, unreachable } from './failure.ts';
import type { JoinedTexts } from './joined-texts.ts';

/** Bytes of an error body that are read at most. */
const LONGEST_ERROR_BODY = 64 * 1024;

/**
 * The `fetch` given to vendor libraries. Whatever goes wrong on the way leaves as a `SluiceError`, so that it does not
 * matter how a library words its failures; redirects are not followed, since the key would travel along.
 *
 * @param texts of one answer, where the library is to get fewer events
 */
export function vendorFetch(
  fetch: typeof globalThis.fetch,
  speaker: Speaker,
  texts?: JoinedTexts,
): typeof globalThis.fetch {
  return async (input, init) => {
    let response: Response;
    try {
      response = await fetch(input, { ...init, redirect: 'manual' });
    } catch (error) {
      if (init?.signal?.aborted === true) throw error;
      throw unreachable(speaker, error);
    }
    if (response.ok) {
      const isStream = init?.method === 'POST' && new Headers(init.headers).get('accept') !== 'application/json';
      return checked(response, speaker, isStream, init?.signal, texts);
    }
    if (response.status >= 300 && response.status < 400) {
      response.body?.cancel().catch(() => {});
      throw new SluiceError(
        'upstream_failed',
        `${speaker.label} redirects to another address (${response.status}), which is not followed.`,
      );
    }
    throw statusFailure(speaker, response.status, response.headers, await beginning(response));
  };
}

/** The first bytes of a body as text; what follows is not taken in. */
async function beginning(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(piece);
      size += piece.length;
      if (size >= LONGEST_ERROR_BODY) break;
    }
  } catch {
    // The status alone says enough.
  }
  return Buffer.concat(pieces).subarray(0, LONGEST_ERROR_BODY).toString('utf8');
}

/**
 * A good answer, unless it is of a kind that no vendor sends: only listings and counts are no streams. Nothing here may know the
 * request, whose body would stay in memory for as long as the answer takes.
 */
function checked(
  response: Response,
  speaker: Speaker,
  isStream: boolean,
  signal: AbortSignal | null | undefined,
  texts: JoinedTexts | undefined,
): Response {
  const contentType = response.headers.get('content-type') ?? '';
  const wanted = isStream ? /event-?stream/i : /json/i;
  if (contentType !== '' && !wanted.test(contentType)) {
    response.body?.cancel().catch(() => {});
    throw new SluiceError('upstream_invalid', `${speaker.label} answered with ${contentType.slice(0, 100)}.`);
  }
  const { body } = response;
  if (body === null) return response;
  const joined = /^\s*text\/event-stream/i.test(contentType) ? texts : undefined;
  const reader = body.getReader();
  const guarded = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          let result: Awaited<ReturnType<typeof reader.read>>;
          try {
            result = await reader.read();
          } catch (error) {
            if (signal?.aborted === true) throw error;
            throw broken(speaker, error);
          }
          if (result.done) return controller.close();
          try {
            const bytes = joined === undefined ? result.value : joined.push(result.value);
            if (bytes !== undefined) return controller.enqueue(bytes);
          } catch (error) {
            reader.cancel().catch(() => {});
            throw error;
          }
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead of the consumer here.
    { highWaterMark: 0 },
  );
  return new Response(guarded, { status: response.status, headers: response.headers });
}
