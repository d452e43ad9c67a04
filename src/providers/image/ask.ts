import { type ErrorCode, SluiceError } from '../../core/errors.ts';
import { firstSaid, membersOf, parseJson } from '../../core/objects.ts';
import { open } from '../../outbound/body.ts';
import type { UpstreamRequest } from '../../outbound/request.ts';
import type { UpstreamClient } from '../../outbound/upstream.ts';
import { errorBody } from '../error-body.ts';
import { failureOfStatus } from '../openai/failure.ts';

/** How one upstream is asked. */
export interface AskDeps {
  readonly client: UpstreamClient;
  readonly limits: () => { readonly answerBytes: number };
}

/** A whole answer with a 2xx status. */
export interface Asked {
  readonly status: number;
  /** Lower case, without parameters. */
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** A request to a whole address. */
export type Question = Omit<UpstreamRequest, 'origin' | 'path'> & { readonly url: string };

/** A whole answer. Throws for every status but 2xx; `explain` finds the words of an error that stand in an unusual place. */
export async function askBytes(
  deps: AskDeps,
  { url, ...request }: Question,
  signal: AbortSignal,
  explain: (json: unknown) => string | undefined = explanationOf,
): Promise<Asked> {
  const { origin, pathname, search } = new URL(url);
  const response = await open(deps.client, { ...request, origin, path: pathname + search }, signal);
  const { status, headers } = response;
  if (status < 200 || status >= 300) {
    const body = await errorBody(response.body);
    const said = explain(parseJson(body.toString('utf8')));
    const words = said === undefined ? body : Buffer.from(JSON.stringify({ error: { message: said } }));
    throw failureOfStatus(status, headers, words);
  }
  const bytes = await response.body.collect(deps.limits().answerBytes);
  const [contentType = ''] = String(headers['content-type'] ?? '').split(';');
  return { status, contentType: contentType.trim().toLowerCase(), bytes };
}

/** A whole answer in JSON. */
export async function askJson(
  deps: AskDeps,
  question: Question,
  signal: AbortSignal,
  explain?: (json: unknown) => string | undefined,
): Promise<unknown> {
  const { bytes } = await askBytes(deps, question, signal, explain);
  const json = parseJson(bytes.toString('utf8'));
  if (json !== undefined) return json;
  throw new SluiceError('upstream_invalid', 'The provider answered with something that is not JSON.');
}

/** What upstreams that draw say is wrong: fal and FastAPI `detail`, Stability `errors`, Luma and Replicate `detail`, ComfyUI `error`. */
export function explanationOf(json: unknown): string | undefined {
  const { detail, errors, error, message, title, failure_reason: reason } = membersOf(json);
  const inner = membersOf(error)['message'];
  const listed = [detail, errors].map(listedWords);
  return firstSaid([inner, message, ...listed, detail, errors, error, reason, title]);
}

function listedWords(list: unknown): string | undefined {
  if (!Array.isArray(list)) return undefined;
  const words = list.slice(0, 10).flatMap((each) => {
    const { msg, message, loc } = membersOf(each);
    const said = typeof each === 'string' ? each : (msg ?? message);
    if (typeof said !== 'string') return [];
    return [Array.isArray(loc) ? `${loc.join('.')}: ${said}` : said];
  });
  return words.length === 0 ? undefined : words.join('; ');
}

/** A failure that an upstream reports within a good answer. */
export function reported(code: ErrorCode, label: string, words: unknown): SluiceError {
  const said = firstSaid([words]);
  return new SluiceError(code, `${label} did not draw${said === undefined ? '.' : `: ${said.slice(0, 1_000)}`}`);
}
