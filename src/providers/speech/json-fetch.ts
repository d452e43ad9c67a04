import type { Speaker } from '../ai-sdk/failure.ts';
import { goodAnswer, wholeOf } from '../ai-sdk/vendor-answer.ts';
import { moved, worded } from './fetch-audio.ts';

/** Bytes of a transcript with all that vendors say about it, or of a quarter of an hour of speech. */
const LONGEST_ANSWER = 64 * 1024 * 1024;

/**
 * The `fetch` for a vendor's library that reads a whole answer in JSON; an answer without end is not taken in.
 *
 * @param address where the library knows one address of its vendor only, requests go to the configured one instead
 */
export function jsonFetch(
  fetch: typeof globalThis.fetch,
  speaker: Speaker,
  address: { readonly from: string; readonly to: string },
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await goodAnswer(fetch, speaker, moved(String(input), address), init, worded);
    const body = await wholeOf(response, speaker, LONGEST_ANSWER, init?.signal);
    return new Response(body, { status: 200, headers: { 'content-type': 'application/json' } });
  };
}
