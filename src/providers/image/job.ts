import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageWatcher } from '../../core/image.ts';
import { broken, type Speaker, statusFailure, unreachable } from '../ai-sdk/failure.ts';
import { explanationOf } from './ask.ts';

/** Bytes of an error body that are read at most. */
const LONGEST_ERROR_BODY = 64 * 1024;
/** How long calling off a job may take, which nobody waits for. */
const CALL_OFF_MS = 5_000;
/** Waiting between two looks at a job: it grows from the first to the last, in milliseconds. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;

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

export interface JobDeps {
  readonly fetch: typeof fetch;
  readonly answerBytes: number;
  readonly speaker: Speaker;
  /** Where the API is. */
  readonly baseUrl: string;
  readonly call: Call;
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
  const { fetch, speaker, call, watcher } = deps;
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
    async follow(request, isOver) {
      for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 1.5)) {
        const state = await job.send(request);
        if (isOver(state)) return state;
        await sleep(wait, undefined, { signal: call.signal });
      }
    },
    calledOffBy: (request) => callOff.push(request),
  };
  const unlisten = call.onCancel(() => {
    for (const { url, method, headers } of callOff) {
      // It may be any address that the upstream has named.
      if (new URL(url).origin !== origin) continue;
      fetch(url, { method, headers, redirect: 'manual', signal: AbortSignal.timeout(CALL_OFF_MS) })
        .then((response) => response.body?.cancel())
        .catch((error) => call.log.warn({ id: call.id, error: String(error) }, 'a job upstream was not called off'));
    }
  });

  /** A library may be told to ask elsewhere; its key stays here. */
  function checkOrigin(url: string): void {
    if (URL.canParse(url) && new URL(url).origin === origin) return;
    throw new SluiceError('upstream_invalid', `${speaker.label} leads to another address, which is not followed.`);
  }

  async function sendJson({ method, url, headers, body }: JobRequest): Promise<unknown> {
    let response: Response;
    try {
      response = await fetch(url, { method, headers, body: body ?? null, redirect: 'manual', signal: call.signal });
    } catch (error) {
      if (call.cancelled !== undefined) throw call.cancelled;
      throw unreachable(speaker, error);
    }
    if (response.status >= 300 && response.status < 400) {
      response.body?.cancel().catch(() => {});
      throw new SluiceError('upstream_failed', `${speaker.label} redirects to another address, which is not followed.`);
    }
    const text = await textOf(response, response.ok ? deps.answerBytes : LONGEST_ERROR_BODY);
    if (!response.ok) throw statusFailure(speaker, response.status, response.headers, worded(text));
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new SluiceError('upstream_invalid', `${speaker.label} answered with something that is not JSON.`, {
        cause: error,
      });
    }
  }

  async function textOf(response: Response, limit: number): Promise<string> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const piece of response.body ?? []) {
        size += piece.length;
        pieces.push(piece);
        if (size > limit) break;
      }
    } catch (error) {
      if (call.cancelled !== undefined) throw call.cancelled;
      if (response.ok) throw broken(speaker, error);
    }
    if (size > limit && response.ok) {
      throw new SluiceError('upstream_invalid', `${speaker.label} answered with more than ${limit} bytes.`);
    }
    return Buffer.concat(pieces).toString('utf8');
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
    done: unlisten,
  };
}

/** An error body in the form that `statusFailure` reads. */
function worded(text: string): string {
  try {
    const said = explanationOf(JSON.parse(text));
    return said === undefined ? text : JSON.stringify({ error: { message: said } });
  } catch {
    return text;
  }
}
