import { isDistrust } from '../../outbound/error-code.ts';
import { Failure } from '../failure.ts';
import { Snapshot } from './snapshot.ts';
import type { Finished } from './view.ts';

/** How long a running Sluice may take to answer, in milliseconds. */
const TIMEOUT_MS = 5_000;
const REQUESTS = 20;

/** Where a running Sluice is asked, and with which access key. */
export interface Source {
  /** Without a trailing slash. */
  readonly url: string;
  readonly key?: string | undefined;
}

/** What it tells now. Throws a `Failure` that says what to do. */
export async function look(source: Source): Promise<Snapshot> {
  const response = await ask(source, '/metrics');
  const text = await response.text();
  if (response.status === 401) {
    const words = source.key === undefined ? 'asks for its access key' : 'has another access key than the one given';
    throw new Failure(`${source.url} ${words}: give it with --key, or as SLUICE_KEY`);
  }
  if (response.status !== 200) {
    const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
    throw new Failure(`${source.url} answers ${response.status}${message === undefined ? '' : `: ${message}`}`);
  }
  const snapshot = new Snapshot(text, performance.now());
  if (snapshot.sum('sluice_info') === undefined) throw new Failure(`${source.url} is no Sluice; name one with --url`);
  return snapshot;
}

/** The newest requests; undefined where they are not to be had, which is no reason to stop. */
export async function newest(source: Source): Promise<readonly Finished[] | undefined> {
  try {
    const response = await ask(source, `/backend-api/v2/requests?limit=${REQUESTS}`);
    const answer = (await response.json()) as { readonly requests?: readonly Finished[] };
    return response.status === 200 && Array.isArray(answer.requests) ? answer.requests : undefined;
  } catch {
    return undefined;
  }
}

async function ask({ url, key }: Source, path: string): Promise<Response> {
  try {
    return await fetch(url + path, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      // The key is for this address alone.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    const { cause, message } = error as { cause?: { code?: unknown; message?: unknown }; message: string };
    // What `fetch` itself refuses, a port of another protocol for one, has no code.
    const why = [cause?.code, cause?.message].find((each) => typeof each === 'string' && each !== '') ?? message;
    if (isDistrust(String(why))) {
      const mend = 'name a file with the certificate of who signed it in NODE_EXTRA_CA_CERTS';
      throw new Failure(`the certificate of ${url} is not trusted here (${why}); ${mend}`);
    }
    throw new Failure(`Sluice cannot be reached at ${url} (${why}); start it, or name another address with --url`);
  }
}
