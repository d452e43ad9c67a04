import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import { broken, type Speaker, statusFailure, unreachable } from '../ai-sdk/failure.ts';

/** Bytes of an error body that are read at most. */
const LONGEST_ERROR_BODY = 64 * 1024;

/** An answer that has begun. */
export interface AudioAnswer {
  readonly contentType: string | null;
  /** To be read once. Throws `upstream_cut` when the rest does not come. */
  bytes(call: Call): AsyncGenerator<Uint8Array, void>;
}

/**
 * The `fetch` for one call of a vendor's speech library. The audio itself goes past the library, which would wait for
 * its end; the library gets a stand-in. Failures leave as `SluiceError`s; redirects are not followed, since the key
 * would travel along.
 *
 * @param address the library knows one address of its vendor only; requests go to the configured one instead
 */
export function fetchAudio(
  fetch: typeof globalThis.fetch,
  speaker: Speaker,
  address: { readonly from: string; readonly to: string },
): { readonly fetch: typeof globalThis.fetch; answer(): AudioAnswer } {
  let answer: AudioAnswer | undefined;
  return {
    async fetch(input, init) {
      let response: Response;
      try {
        response = await fetch(moved(String(input), address), { ...init, redirect: 'manual' });
      } catch (error) {
        if (init?.signal?.aborted === true) throw error;
        throw unreachable(speaker, error);
      }
      if (response.status >= 300 && response.status < 400) {
        response.body?.cancel().catch(() => {});
        throw new SluiceError(
          'upstream_failed',
          `${speaker.label} redirects to another address (${response.status}), which is not followed.`,
        );
      }
      if (!response.ok) throw statusFailure(speaker, response.status, response.headers, await explanation(response));
      answer = {
        contentType: response.headers.get('content-type'),
        bytes: (call) => bytesOf(response, speaker, call),
      };
      return new Response('audio', { headers: { 'content-type': 'audio/mpeg' } });
    },
    answer() {
      if (answer === undefined) throw new SluiceError('upstream_invalid', `${speaker.label} was not asked.`);
      return answer;
    },
  };
}

/** The configured address in the place of the one that the library knows. */
export function moved(url: string, { from, to }: { readonly from: string; readonly to: string }): string {
  if (!url.startsWith(`${from}/`)) throw new Error('a library sends its request elsewhere');
  return to + url.slice(from.length);
}

async function* bytesOf(response: Response, speaker: Speaker, call: Call): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const piece of response.body ?? []) yield piece;
  } catch (error) {
    if (call.cancelled !== undefined) throw call.cancelled;
    throw broken(speaker, error);
  }
}

/** The beginning of an error body, as the JSON that `statusFailure` reads: ElevenLabs says `detail`, Deepgram `err_msg`, AssemblyAI `error`. */
export async function explanation(response: Response): Promise<string> {
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
  const text = Buffer.concat(pieces).toString('utf8');
  try {
    const {
      detail,
      err_msg: said,
      error,
    } = JSON.parse(text) as { detail?: unknown; err_msg?: unknown; error?: unknown };
    const inner = typeof detail === 'object' && detail !== null ? (detail as { message?: unknown }).message : detail;
    const message = [said, inner, error].find((each) => typeof each === 'string');
    return message === undefined ? text : JSON.stringify({ message });
  } catch {
    return text;
  }
}
