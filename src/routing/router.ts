import type { Limits } from '../config/config.ts';
import type { CallScope, Credentials } from '../core/call.ts';
import type { ChatRequest } from '../core/chat.ts';
import type { Provider } from '../core/provider.ts';
import type { Step } from '../core/stream.ts';
import type { UpstreamClient } from '../outbound/upstream.ts';
import { type Attempted, attempt } from './attempt.ts';
import type { Catalog } from './catalog.ts';
import { type OpenedChunks, openChunks, whole } from './chunks.ts';
import type { Deadlines } from './deadlines.ts';
import { Health } from './health.ts';
import { openRelay, type RelayedBody, type RelayedStream, type RelayRequest } from './relay.ts';
import { type Preferences, select, type Target, type Wish } from './select.ts';

/** Keys that came with a request. */
export interface ClientKeys {
  /** The request's own `api_key`: one for all, or by provider. */
  readonly apiKey?: string | ReadonlyMap<string, string>;
  /** A Bearer token, which many clients send for form's sake. */
  readonly bearer?: string;
}

/** What is asked for. */
export interface Question {
  readonly wish: Wish;
  readonly keys: ClientKeys;
  /** The request in our own words; asked for only when a provider needs it. */
  request(): ChatRequest;
  /** The bytes for an upstream that speaks the client's wire format; absent where they have to be understood. */
  relay?(target: Target): RelayRequest;
}

export type Answered = Attempted<OpenedChunks | RelayedStream | RelayedBody>;

export interface RouterDeps {
  readonly client: UpstreamClient;
  readonly catalog: Catalog;
  readonly deadlines: Deadlines;
  readonly preferences: () => Preferences;
  readonly limits: () => Limits;
  /** What happens to every answer that comes as chunks, in this order. */
  readonly steps: readonly Step[];
}

/** From a question to the first visible chunk of an answer. */
export class Router {
  readonly catalog: Catalog;
  readonly #deps: RouterDeps;
  readonly #health = new Health();

  constructor(deps: RouterDeps) {
    this.#deps = deps;
    this.catalog = deps.catalog;
  }

  async answer(question: Question, call: CallScope): Promise<Answered> {
    const { deadlines, client } = this.#deps;
    const limits = this.#deps.limits();
    const found = select(question.wish, this.#deps.preferences(), this.catalog);
    const targets = 'then' in found ? await found : found;
    const isChosen = targets.length === 1 || question.wish.providers.length > 0;
    return attempt(targets, call, limits, this.#health, async (target) => {
      const scope = call.fork(credentialsFor(target.provider, question.keys, isChosen));
      try {
        if (question.relay === undefined || target.provider.relay === undefined) {
          return this.#enriched(
            await openChunks(target, question.request(), scope, deadlines, limits),
            question,
            scope,
          );
        }
        const relayed = await openRelay(target, question.relay(target), scope, { client, deadlines, limits });
        if (relayed.kind !== 'decoded') return relayed;
        const chunks = whole(relayed.batch, undefined, target, question.request());
        return this.#enriched({ kind: 'chunks', chunks }, question, scope);
      } catch (error) {
        scope.release();
        throw error;
      }
    });
  }

  #enriched(opened: OpenedChunks, question: Question, call: CallScope): OpenedChunks {
    let { chunks } = opened;
    for (const step of this.#deps.steps) chunks = step.chunks?.(chunks, question.request(), call) ?? chunks;
    return { ...opened, chunks };
  }
}

/**
 * Which key of the client a provider gets. An explicit `api_key` beats configuration; a Bearer token only serves where
 * nothing is configured. Neither goes to a provider that the client did not choose: it may be meant for another one.
 */
function credentialsFor(provider: Provider, keys: ClientKeys, isChosen: boolean): Credentials {
  if (provider.auth.kind !== 'api_key') return {};
  if (typeof keys.apiKey === 'object') {
    const own = keys.apiKey.get(provider.id.toLowerCase()) ?? keys.apiKey.get(provider.label.toLowerCase());
    if (own !== undefined) return { apiKey: own };
  } else if (keys.apiKey !== undefined && isChosen) {
    return { apiKey: keys.apiKey };
  }
  if (keys.bearer !== undefined && isChosen && !provider.auth.configured) return { apiKey: keys.bearer };
  return {};
}
