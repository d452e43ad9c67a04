import { SluiceError } from '../../core/errors.ts';
import type { Speaker } from '../ai-sdk/failure.ts';
import { broken, statusFailure, unreachable } from '../ai-sdk/failure.ts';
import { explanation, moved } from './fetch-audio.ts';

/** Bytes of a transcript with all that vendors say about it, or of a quarter of an hour of speech. */
const LONGEST_ANSWER = 64 * 1024 * 1024;

/**
 * The `fetch` for a vendor's library that reads a whole answer in JSON. Failures leave as `SluiceError`s; redirects are not followed, since the key
 * would travel along; an answer without end is not taken in.
 *
 * @param address where the library knows one address of its vendor only, requests go to the configured one instead
 */
export function jsonFetch(
  fetch: typeof globalThis.fetch,
  speaker: Speaker,
  address: { readonly from: string; readonly to: string },
): typeof globalThis.fetch {
  return async (input, init) => {
    let response: Response;
    try {
      response = await fetch(moved(String(input), address), { ...init, redirect: 'manual' });
    } catch (error) {
      if (init?.signal?.aborted === true) throw error;
      throw unreachable(speaker, error);
    }
    if (response.status >= 300 && response.status < 400) {
      response.body?.cancel().catch(() => {});
      const message = `${speaker.label} redirects to another address (${response.status}), which is not followed.`;
      throw new SluiceError('upstream_failed', message);
    }
    if (!response.ok) throw statusFailure(speaker, response.status, response.headers, await explanation(response));
    const body = await whole(response, speaker, init?.signal);
    return new Response(body, { status: 200, headers: { 'content-type': 'application/json' } });
  };
}

async function whole(response: Response, speaker: Speaker, signal: AbortSignal | null | undefined): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(piece);
      size += piece.length;
      if (size > LONGEST_ANSWER) break;
    }
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw broken(speaker, error);
  }
  if (size <= LONGEST_ANSWER) return Buffer.concat(pieces);
  throw new SluiceError('upstream_invalid', `${speaker.label} sent more than ${LONGEST_ANSWER} bytes.`);
}
