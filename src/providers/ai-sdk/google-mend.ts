import { firstSaid, isObject, membersOf, parseObject } from '../../core/objects.ts';
import { numbers } from './numbers.ts';

type Json = Record<string, unknown>;

/** What of an event the library may stumble over: failures, counts that are texts, and ratings that are none. */
const ODD = /"error"|TokenCount": ?"|"(?:category|probability|severity)": ?[^"n]/;

/**
 * An event, as JSON text, with what Google's library insists on. Others that serve this API, and proxies before it, write
 * otherwise what no answer needs.
 */
export function mended(data: string): string | undefined {
  if (!ODD.test(data)) return data;
  const event = parseObject(data);
  if (event === undefined) return undefined;
  const { error, usageMetadata: usage, candidates, promptFeedback: feedback, ...others } = event;
  return JSON.stringify({
    ...others,
    ...(Array.isArray(candidates) ? { candidates: candidates.map(unrated) } : {}),
    ...(isObject(feedback) ? { promptFeedback: unrated(feedback) } : {}),
    ...(isObject(usage) ? { usageMetadata: numbers(usage) } : {}),
    ...(error == null ? {} : { error: failureIn(error) }),
  });
}

/** A failure in Google's form. */
export function failureIn(error: unknown): Json {
  const { code, message, status, ...others } = membersOf(error);
  const said = firstSaid([error, message]);
  const number = Number(code ?? Number.NaN);
  return {
    ...others,
    code: number >= 400 && number < 600 ? number : null,
    message: said ?? 'The provider reported an error without an explanation.',
    status: typeof status === 'string' ? status : 'UNKNOWN',
  };
}

function unrated(holder: unknown): unknown {
  const { safetyRatings: _, ...others } = membersOf(holder);
  return others;
}
