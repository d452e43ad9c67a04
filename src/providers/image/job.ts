import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageWatcher } from '../../core/image.ts';
import { parseJson } from '../../core/objects.ts';
import type { Speaker } from '../ai-sdk/failure.ts';
import { goodAnswer, wholeOf } from '../ai-sdk/vendor-answer.ts';
import { explanationOf } from './ask.ts';
import { poll } from './poll.ts';

/** How long calling off a job may take, which nobody waits for. */
const CALL_OFF_MS = 5_000;
const PAUSES = { first: 250, longest: 2_000 };

/** A request of a vendor's library, or one of ours beside it. */
export interface JobRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** JSON. */
  readonly body?: string;
}

/** What the upstream runs for one call. */
export interface Job {
  /** The JSON answer to one request. Failures leave as `SluiceError`s; a key goes to the configured origin only. */
  send(request: JobRequest): Promise<unknown>;
  /** Asks until `isOver` says so. */
  follow(request: JobRequest, isOver: (state: unknown) => boolean): Promise<unknown>;
  /** How to call it off when nobody wants it any more. */
  calledOffBy(request: JobRequest): void;
}

/** What a vendor's library is told in answer to a request of it; without one, what the upstream says. */
export type Conduct = (request: JobRequest, job: Job) => Promise<unknown>;

interface JobDeps {
  readonly fetch: typeof fetch;
  readonly answerBytes: number;
  readonly speaker: Speaker;
  /** Where the API is. */
  readonly baseUrl: string;
  readonly call: Call;
  /** Aborts with the call, or where another picture of it failed. */
  readonly signal: AbortSignal;
  readonly watcher: ImageWatcher;
}

/** The `fetch` of a library, and what came of it. */
export interface OpenedJob {
  readonly fetch: typeof fetch;
  /** Where the results are, in the order in which the library asked for them. They were not fetched. */
  readonly results: readonly string[];
  /** Nothing is left to call off. */
  done(): void;
}

/**
 * One call of a library that draws. Results are not downloaded by it: where they are is noted, and it gets a stand-in. Every
 * answer of the API is a sign of life; should nobody wait any more, the job is called off.
 */
export function openJob(deps: JobDeps, conduct: Conduct = (request, job) => job.send(request)): OpenedJob {
  const { fetch, speaker, call, signal, watcher } = deps;
  const { origin } = new URL(deps.baseUrl);
  const results: string[] = [];
  const callOff: JobRequest[] = [];
  const job: Job = {
    async send(request) {
      checkOrigin(request.url);
      const json = await sendJson(request);
      watcher.alive();
      return json;
    },
    follow: (request, isOver) => poll(() => job.send(request), isOver, PAUSES, signal),
    calledOffBy: (request) => callOff.push(request),
  };
  const giveUp = (): void => {
    for (const { url, method, headers } of callOff) {
      // It may be any address that the upstream has named.
      if (new URL(url).origin !== origin) continue;
      fetch(url, { method, headers, redirect: 'manual', signal: AbortSignal.timeout(CALL_OFF_MS) })
        .then((response) => response.body?.cancel())
        .catch((error) => call.log.warn({ id: call.id, error: String(error) }, 'a job upstream was not called off'));
    }
  };
  signal.addEventListener('abort', giveUp);

  /** A library may be told to ask elsewhere; its key stays here. */
  function checkOrigin(url: string): void {
    if (URL.canParse(url) && new URL(url).origin === origin) return;
    throw new SluiceError('upstream_invalid', `${speaker.label} leads to another address, which is not followed.`);
  }

  async function sendJson({ method, url, headers, body }: JobRequest): Promise<unknown> {
    const init = { method, headers, body: body ?? null, signal };
    const response = await goodAnswer(fetch, speaker, url, init, worded);
    const text = (await wholeOf(response, speaker, deps.answerBytes, signal)).toString('utf8');
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new SluiceError('upstream_invalid', `${speaker.label} answered with something that is not JSON.`, {
        cause: error,
      });
    }
  }

  return {
    results,
    async fetch(input, init) {
      const url = String(input);
      const headers = new Headers(init?.headers);
      if (!headers.has('authorization')) {
        results.push(url);
        return new Response('result', { headers: { 'content-type': 'image/png' } });
      }
      const { method = 'GET', body } = init ?? {};
      const request = { method, url, headers, ...(typeof body === 'string' ? { body } : {}) };
      const json = await conduct(request, job);
      return new Response(JSON.stringify(json), { headers: { 'content-type': 'application/json' } });
    },
    done: () => signal.removeEventListener('abort', giveUp),
  };
}

/** An error body in the form that `statusFailure` reads. */
function worded(text: string): string {
  const said = explanationOf(parseJson(text));
  return said === undefined ? text : JSON.stringify({ error: { message: said } });
}
