import type { Limits } from '../config/config.ts';
import type { CallScope } from '../core/call.ts';
import type { ChatRequest } from '../core/chat.ts';
import type { Provider } from '../core/provider.ts';
import type { Step } from '../core/stream.ts';
import type { UpstreamClient } from '../outbound/upstream.ts';
import { type Attempted, attempt } from './attempt.ts';
import type { Catalog } from './catalog.ts';
import { type OpenedChunks, openChunks, whole } from './chunks.ts';
import { type ClientKeys, credentialsFor, keepKey, withoutKey } from './credentials.ts';
import type { Deadlines } from './deadlines.ts';
import { Health } from './health.ts';
import { openRelay, type RelayedBody, type RelayedStream, type RelayRequest } from './relay.ts';
import { type Preferences, select, type Target, type Wish } from './select.ts';

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
    const limits = this.#deps.limits();
    const { wish, keys } = question;
    const ownKey = (provider: Provider) => credentialsFor(provider, keys, true);
    const found = select(wish, this.#deps.preferences(), this.catalog, ownKey);
    const targets = 'then' in found ? await found : found;
    const isChosen = targets.length === 1 || wish.providers.length > 0;
    return attempt(targets, call, limits, this.#health, async (target) => {
      const credentials = credentialsFor(target.provider, keys, isChosen);
      const scope = call.fork(credentials);
      try {
        return keepKey(await this.#open(target, question, scope, limits), credentials);
      } catch (error) {
        scope.release();
        throw withoutKey(error, credentials);
      }
    });
  }

  async #open(target: Target, question: Question, scope: CallScope, limits: Limits): Promise<Answered['value']> {
    const { deadlines, client } = this.#deps;
    if (question.relay === undefined || target.provider.relay === undefined) {
      return this.#enriched(await openChunks(target, question.request(), scope, deadlines, limits), question, scope);
    }
    const relayed = await openRelay(target, question.relay(target), scope, { client, deadlines, limits });
    if (relayed.kind !== 'decoded') return relayed;
    const chunks = whole(relayed.batch, undefined, target, question.request());
    return this.#enriched({ kind: 'chunks', chunks }, question, scope);
  }

  #enriched(opened: OpenedChunks, question: Question, call: CallScope): OpenedChunks {
    let { chunks } = opened;
    for (const step of this.#deps.steps) chunks = step.chunks?.(chunks, question.request(), call) ?? chunks;
    return { ...opened, chunks };
  }
}
