import type { Body } from '../../outbound/body.ts';
import { type Answered, ask, toResponse } from '../../outbound/fetch.ts';
import type { UpstreamClient } from '../../outbound/upstream.ts';
import { errorBody } from '../error-body.ts';
import { broken, notReached, type Speaker, statusFailure, wrongKind } from './failure.ts';
import type { JoinedTexts } from './joined-texts.ts';
import { redirected } from './vendor-answer.ts';

/**
 * The `fetch` given to vendor libraries. Whatever goes wrong on the way leaves as a `SluiceError`, so that it does not
 * matter how a library words its failures; redirects are not followed, since the key would travel along.
 *
 * @param texts of one answer, where the library is to get fewer events
 */
export function vendorFetch(client: UpstreamClient, speaker: Speaker, texts?: JoinedTexts): typeof fetch {
  return async (input, init) => {
    let answered: Answered;
    try {
      answered = await ask(client, input, init);
    } catch (error) {
      if (init?.signal?.aborted === true) throw error;
      throw notReached(speaker, error);
    }
    const { status, headers, body } = answered;
    if (status >= 200 && status < 300) {
      const isStream = init?.method === 'POST' && new Headers(init.headers).get('accept') !== 'application/json';
      const contentType = headers.get('content-type') ?? '';
      const wanted = isStream ? /event-?stream/i : /json/i;
      // Only listings and counts are no streams. An error may come with status 200.
      if (contentType !== '' && !wanted.test(contentType)) {
        throw wrongKind(speaker, headers, await beginning(body));
      }
      return handedOn(answered, speaker, init?.signal, texts);
    }
    if (status >= 300 && status < 400) {
      void body.return();
      throw redirected(speaker, status);
    }
    throw statusFailure(speaker, status, headers, await beginning(body));
  };
}

/** The same, with the key in a header of its own instead of a Bearer token. */
export function withKeyIn(header: string, apiKey: string, send: typeof fetch): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete('authorization');
    if (apiKey !== '') headers.set(header, apiKey);
    return send(input, { ...init, headers });
  };
}

async function beginning(body: Body): Promise<string> {
  return (await errorBody(body)).toString('utf8');
}

/** A good answer. Nothing here may know the request, whose body would stay in memory for as long as the answer takes. */
function handedOn(
  answered: Answered,
  speaker: Speaker,
  signal: AbortSignal | null | undefined,
  texts: JoinedTexts | undefined,
): Response {
  const contentType = answered.headers.get('content-type') ?? '';
  const joined = /^\s*text\/event-stream/i.test(contentType) ? texts : undefined;
  return toResponse(answered, {
    pass: joined && ((bytes) => joined.push(bytes)),
    end: joined && (() => joined.end()),
    isComplete: joined && (() => joined.complete),
    failed: (error) => (signal?.aborted === true ? error : broken(speaker, error)),
  });
}
