import { SluiceError } from '../../core/errors.ts';
import { isObject, parseObject } from '../../core/objects.ts';
import { broken, type Speaker } from '../ai-sdk/failure.ts';
import { goodAnswer } from '../ai-sdk/vendor-answer.ts';

/** An answer that has begun. */
export interface AudioAnswer {
  readonly contentType: string | null;
  /** To be read once. Throws `upstream_cut` when the rest does not come. */
  bytes(): AsyncGenerator<Uint8Array, void>;
}

/**
 * The `fetch` for one call of a vendor's speech library. The audio itself goes past the library, which would wait for
 * its end; the library gets a stand-in.
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
      const response = await goodAnswer(fetch, speaker, moved(String(input), address), init, worded);
      answer = {
        contentType: response.headers.get('content-type'),
        bytes: () => bytesOf(response, speaker),
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

async function* bytesOf(response: Response, speaker: Speaker): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const piece of response.body ?? []) yield piece;
  } catch (error) {
    throw broken(speaker, error);
  }
}

/** An error body as the JSON that `statusFailure` reads: ElevenLabs says `detail`, Deepgram `err_msg`, AssemblyAI `error`. */
export function worded(body: string): string {
  const { detail, err_msg: said, error } = parseObject(body) ?? {};
  const inner = isObject(detail) ? detail['message'] : detail;
  const message = [said, inner, error].find((each) => typeof each === 'string');
  return message === undefined ? body : JSON.stringify({ message });
}
