import { SluiceError } from '../../core/errors.ts';
import { errorBody } from '../error-body.ts';
import { broken, notReached, type Speaker, statusFailure } from './failure.ts';

/**
 * Asks a vendor, and resolves with the head of a good answer. Failures are `SluiceError`s; redirects are not followed, since the
 * key would travel along.
 *
 * @param worded an error body in the form that `statusFailure` reads, where the vendor has another one
 */
export async function goodAnswer(
  fetch: typeof globalThis.fetch,
  speaker: Speaker,
  url: string,
  init: RequestInit | undefined,
  worded: (body: string) => string = (body) => body,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, redirect: 'manual' });
  } catch (error) {
    if (init?.signal?.aborted === true) throw error;
    throw notReached(speaker, error);
  }
  const { status, headers, body } = response;
  // Nobody asked for a part, so that it would be taken for the whole.
  if (response.ok && status !== 206) return response;
  if (status >= 300 && status < 400) {
    body?.cancel().catch(() => {});
    throw redirected(speaker, status);
  }
  if (status === 206) {
    body?.cancel().catch(() => {});
    throw new SluiceError('upstream_invalid', `${speaker.label} answered 206: with a part of what it was asked for.`);
  }
  throw statusFailure(speaker, status, headers, worded((await errorBody(body)).toString('utf8')));
}

/** A redirect would take the key to another host. It is the same next time, so that nobody asks again. */
export function redirected({ label }: Speaker, status: number): SluiceError {
  const message = `${label} redirects to another address (${status}), which is not followed.`;
  return new SluiceError('upstream_invalid', message);
}

/** All of a good answer; one without end is not taken in. */
export async function wholeOf(
  response: Response,
  speaker: Speaker,
  limit: number,
  signal: AbortSignal | null | undefined,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(piece);
      size += piece.length;
      if (size > limit) break;
    }
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw broken(speaker, error);
  }
  if (size <= limit) return Buffer.concat(pieces);
  throw new SluiceError('upstream_invalid', `${speaker.label} answered with more than ${limit} bytes.`);
}
