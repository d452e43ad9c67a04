import { LRUCache } from 'lru-cache';
import { SluiceError, toSluiceError } from '../core/errors.ts';
import { defined } from '../core/objects.ts';
import { AnsweredError, type GuardedFetch, readAll } from '../outbound/guarded-fetch.ts';
import { excerpt, type Pages } from '../outbound/pages.ts';
import { cleanResults, visibleText } from './clean.ts';
import type { SearchConfig, SearchEngineId, SearchTarget } from './config.ts';
import type { Engine, SearchResult } from './engine.ts';
import { brave } from './engines/brave.ts';
import { exa } from './engines/exa.ts';
import { searxng } from './engines/searxng.ts';
import { tavily } from './engines/tavily.ts';
import { wikipedia } from './engines/wikipedia.ts';

export type { SearchResult } from './engine.ts';

const ENGINES: Readonly<Record<SearchEngineId, Engine>> = { searxng, tavily, brave, exa, wikipedia };

/** Engines refuse longer queries (400 characters at Tavily and Brave, 50 words at Brave). */
const MOST_CHARACTERS = 400;
const MOST_WORDS = 50;
const ANSWER_BYTES = 4 * 1024 * 1024;
/** A person waits for the answer behind the search. */
const ENGINE_MS = 10_000;
const PAGE_MS = 8_000;
const CACHED_MS = 3_600_000;
const MOST_CACHED = 500;

/** What differs from the configuration in one search. */
export interface SearchOptions {
  readonly signal?: AbortSignal;
  readonly results?: number;
  readonly pages?: number;
  readonly words?: number;
  /** The engine to ask, if it is one of the configured ones; any other name changes nothing. */
  readonly engine?: string;
  /** Milliseconds for the whole search. Pages that do not come in time count with their snippet. */
  readonly totalMs?: number;
}

/** One question to a search engine, and the pages that it finds as text. */
export interface WebSearch {
  /** Whether there is any engine to ask. */
  readonly isOn: boolean;
  /** Results with text or snippet, the best first; empty when nothing was found. Throws `SluiceError`. */
  search(query: string, options?: SearchOptions): Promise<readonly SearchResult[]>;
}

interface WebSearchDeps {
  readonly fetch: GuardedFetch;
  readonly pages: Pick<Pages, 'read'>;
  readonly config: () => SearchConfig;
}

/** A search that is under way. */
interface Run {
  readonly query: string;
  readonly count: number;
  /** Milliseconds that are left for it. */
  readonly left: () => number;
  readonly signal: AbortSignal | undefined;
}

/** Web search on the configured engines. What was found is remembered for an hour. */
export function createWebSearch({ fetch, pages, config }: WebSearchDeps): WebSearch {
  const cache = new LRUCache<string, readonly SearchResult[]>({ max: MOST_CACHED, ttl: CACHED_MS });

  async function ask(target: SearchTarget, { query, count, left, signal }: Run) {
    const engine = ENGINES[target.engine];
    const { address, ...request } = engine.request(query, count, target);
    try {
      const fetched = await fetch(address, {
        ...request,
        accept: 'application/json',
        // The operator named the engine, so it may be in a private network; but it must not send us elsewhere.
        allowedOrigins: [new URL(address).origin],
        redirects: 0,
        bytes: ANSWER_BYTES,
        totalMs: Math.max(1, Math.floor(Math.min(ENGINE_MS, left()))),
        ...defined({ signal }),
      });
      const answer: unknown = JSON.parse((await readAll(fetched)).toString());
      return cleanResults(engine.results(answer, target), count);
    } catch (error) {
      throw failureOf(engine, error);
    }
  }

  async function askInTurn(targets: readonly SearchTarget[], run: Run) {
    let last = new SluiceError('not_supported', 'Web search is switched off.');
    for (const target of targets) {
      try {
        return await ask(target, run);
      } catch (error) {
        last = toSluiceError(error);
      }
    }
    throw last;
  }

  /** The result with the text of its page; a page that cannot be had is no reason to fail. */
  async function read(result: SearchResult, { left, signal }: Run): Promise<SearchResult> {
    const totalMs = Math.floor(Math.min(PAGE_MS, left()));
    if (totalMs < 1) return result;
    try {
      const page = await pages.read(result.url, { keepsLinks: false, totalMs, ...defined({ signal }) });
      return { ...result, text: visibleText(page.text) };
    } catch {
      return result;
    }
  }

  return {
    get isOn() {
      return config().targets.length > 0;
    },
    async search(asked, { signal, engine, totalMs = Number.POSITIVE_INFINITY, ...options } = {}) {
      const { targets: all, ...configured } = config();
      const wanted = all.filter((target) => target.engine === engine);
      const targets = wanted.length > 0 ? wanted : all;
      const end = performance.now() + totalMs;
      const left = (): number => end - performance.now();
      const limits = { ...configured, ...options };
      const query = shortened(asked);
      if (query === '') return [];
      const key = JSON.stringify([query, limits, targets.map(({ engine, url }) => [engine, url])]);
      const known = cache.get(key);
      if (known !== undefined) return known;
      const run = { query, count: limits.results, left, signal };
      const found = await askInTurn(targets, run);
      const full = await Promise.all(
        found.map((result, at) =>
          at < limits.pages && result.text === undefined ? read(result, run) : Promise.resolve(result),
        ),
      );
      signal?.throwIfAborted();
      const each = Math.ceil(limits.words / Math.max(1, full.filter(({ text }) => text !== undefined).length));
      // Texts of their own: V8's slices hold on to the whole page that they were cut from, for as long as they are remembered.
      const results = structuredClone(
        full.map((result) => (result.text === undefined ? result : { ...result, text: excerpt(result.text, each) })),
      );
      // Pages that there was no time for may be read the next time.
      if (results.length > 0 && left() > 0) cache.set(key, results);
      return results;
    },
  };
}

function shortened(query: string): string {
  return visibleText(query).split(/\s+/).slice(0, MOST_WORDS).join(' ').slice(0, MOST_CHARACTERS).toWellFormed();
}

/** In words that name the engine and not our request's address. */
function failureOf(engine: Engine, thrown: unknown): SluiceError {
  if (thrown instanceof SyntaxError) {
    return new SluiceError('upstream_invalid', `${engine.label} did not answer with JSON.`, { cause: thrown });
  }
  const error = toSluiceError(thrown);
  if (error.code === 'cancelled') return error;
  const why = error instanceof AnsweredError ? `it ${reasonOf(error.answered, engine)}.` : error.message;
  return new SluiceError(error.code, `${engine.label} could not be asked: ${why}`, { ...error.options, cause: thrown });
}

function reasonOf(status: number, engine: Engine): string {
  switch (status) {
    case 401:
      return 'refused the key (401)';
    case 403:
      return engine === searxng ? 'refused (403); its settings have to allow the format json' : 'refused the key (403)';
    // Tavily's own two: the plan's limit, and the limit for paying as one goes.
    case 429:
    case 432:
    case 433:
      return `allows no more searches for now (${status})`;
    default:
      return `answered ${status}`;
  }
}
