import type { Limits } from '../config/config.ts';
import type { Call, CallScope } from '../core/call.ts';
import type { ChatRequest } from '../core/chat.ts';
import type { Usage } from '../core/chunk.ts';
import { unreachable } from '../core/errors.ts';
import type { Provider } from '../core/provider.ts';
import type { Enriched } from '../core/stream.ts';
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
  /** What is done to requests and answers that are not merely passed through. */
  readonly enrich: (request: ChatRequest, call: Call) => Promise<Required<Enriched>>;
  /** Told once of every answer that ended well, what it cost. */
  readonly onUsage: (target: Target, usage: Usage, call: Call) => void;
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
    let enriched: Promise<Required<Enriched>> | undefined;
    const ready = () => (enriched ??= this.#deps.enrich(question.request(), call));
    // What is wrong with the request is nobody's failure to answer it.
    if (question.relay === undefined) await ready();
    return attempt(targets, call, limits, this.#health, async (target) => {
      const credentials = credentialsFor(target.provider, keys, isChosen);
      const scope = call.fork(credentials);
      try {
        return keepKey(await this.#open(target, question, ready, scope, limits), credentials);
      } catch (error) {
        scope.release();
        throw withoutKey(error, credentials);
      }
    });
  }

  async #open(
    target: Target,
    question: Question,
    ready: () => Promise<Required<Enriched>>,
    scope: CallScope,
    limits: Limits,
  ): Promise<Answered['value']> {
    const { deadlines, client } = this.#deps;
    const onUsage = (usage: Usage) => this.#deps.onUsage(target, usage, scope);
    if (question.relay === undefined || target.provider.relay === undefined) {
      const { request, chunks } = await ready();
      const opened = await openChunks(target, request, scope, deadlines, limits, onUsage);
      return { ...opened, chunks: chunks(opened.chunks) };
    }
    const relayed = await openRelay(target, question.relay(target), scope, { client, deadlines, limits });
    switch (relayed.kind) {
      case 'body':
        if (relayed.usage !== undefined) onUsage(relayed.usage);
        return relayed;
      case 'stream':
        return withEnd(relayed, () => {
          const { usage } = relayed.summary();
          if (usage !== undefined) onUsage(usage);
        });
      case 'decoded': {
        const { request, chunks } = await ready();
        return { kind: 'chunks', chunks: chunks(whole(relayed.batch, undefined, target, request, onUsage)) };
      }
      default:
        return unreachable(relayed);
    }
  }
}

/** The same stream; `onEnd` runs before its end reaches the client. */
function withEnd(stream: RelayedStream, onEnd: () => void): RelayedStream {
  return {
    kind: 'stream',
    headers: stream.headers,
    attach: (sink) =>
      stream.attach({
        write: (latin1) => sink.write(latin1),
        end: () => {
          onEnd();
          sink.end();
        },
        fail: (error) => sink.fail(error),
      }),
    resume: () => stream.resume(),
    summary: () => stream.summary(),
  };
}
