import type { Limits } from '../config/config.ts';
import type { Call, CallScope } from '../core/call.ts';
import type { ChatRequest } from '../core/chat.ts';
import type { AnsweredAs, Batch, Usage } from '../core/chunk.ts';
import { SluiceError, unreachable } from '../core/errors.ts';
import type { Pieces } from '../core/pieces.ts';
import type { Provider } from '../core/provider.ts';
import type { Ready, Step } from '../core/stream.ts';
import { rateLimits, rateLimitsOf } from '../outbound/rate-limits.ts';
import type { UpstreamClient } from '../outbound/upstream.ts';
import { type Attempted, attempt } from './attempt.ts';
import { balance, KeyTurns, Sessions } from './balance.ts';
import type { Catalog } from './catalog.ts';
import { type AnsweredChunks, openChunks, WholeAnswer } from './chunks.ts';
import { type ClientKeys, credentialsFor, keepKey, withoutKey } from './credentials.ts';
import type { Deadlines } from './deadlines.ts';
import { altOf, answersWithImages, imageAsChat } from './drawing.ts';
import { Health } from './health.ts';
import { openRelay } from './relay.ts';
import type { RelayedBody, RelayedStream, RelayRequest, Summary } from './relayed.ts';
import { type Arrange, type Preferences, select, type Target, type Wish } from './select.ts';

/** Who shall answer, with which keys of the client's. */
export interface Asked {
  readonly wish: Wish;
  readonly keys: ClientKeys;
  /** Fields of the request, in the client's words, that were lost before any provider saw it. */
  readonly dropped?: readonly string[];
  /** Who has answered a part of it already, and shall answer this one too; the wish is not looked at then. */
  readonly only?: Target;
}

/** What is asked for. */
export interface Question extends Asked {
  /** The request in our own words; asked for only when a provider needs it. */
  request(): ChatRequest;
  /** What happens to this question alone, at the place of the web search that its request may ask for. */
  readonly steps?: readonly Step[];
  /** Milliseconds of silence between two pieces that the client puts up with, where that is less than the operator does. */
  readonly idleMs?: number | undefined;
  /** The request as one target gets it: the last word, after all steps. */
  send?(request: ChatRequest, target: Target): ChatRequest;
  /** A whole answer that a target gives in another way than by chatting; undefined: it has none, so that it is asked to chat. */
  instead?(request: ChatRequest, target: Target, scope: CallScope): Promise<Batch | undefined>;
  /**
   * The bytes for an upstream that speaks the client's wire format; absent where they have to be understood, undefined where this
   * target does not take what they say.
   */
  readonly relay?: ((target: Target, call: Call) => RelayRequest | undefined) | undefined;
}

/** What a target gave, and what the way there was like. */
export interface Performed<T> extends Attempted<T> {
  /** Fields of the request that had no place there, in the client's words. */
  readonly dropped: readonly string[];
  /** Headers in which the upstream told what paces its clients, where the provider noted them. */
  readonly rateLimits: Readonly<Record<string, string>>;
}

/** An answer to a chat: chunks, or bytes that are passed through. */
export type Answered = Performed<AnsweredChunks | RelayedStream | RelayedBody>;

/** What the router is made of; functions where the configuration may change under it. */
export interface RouterDeps {
  readonly client: UpstreamClient;
  readonly catalog: Catalog;
  readonly deadlines: Deadlines;
  readonly preferences: () => Preferences;
  readonly limits: () => Limits;
  /** What is done to requests and answers that are not merely passed through. */
  readonly enrich: (request: ChatRequest, call: Call, own: readonly Step[]) => Promise<Ready>;
  /** Told once of every answer that ended well, what it cost. */
  readonly onUsage: (target: Target, usage: Usage, call: Call) => void;
  readonly watcher?: RouteWatcher;
}

/** Told what becomes of requests on their way, synchronously: it must cost next to nothing and never throw. */
export interface RouteWatcher {
  asked(call: Call, wish: Wish): void;
  trying(call: Call): void;
  /** A target did not answer. */
  missed(call: Call, target: Target, thrown: unknown): void;
  /** A target answers: its first visible chunk is there, or the whole. */
  answered(call: Call, target: Target): void;
  /** Who wants to see what is relayed as a stream, if anybody. */
  relays(call: Call): ((latin1: string) => void) | undefined;
  /** Why an answer ended, and what it is called; of one that is relayed as a whole its bytes tell. */
  finished(call: Call, finish: string, named: AnsweredAs | undefined): void;
  /** An answer was relayed as a whole. */
  relayed(call: Call, pieces: Pieces): void;
}

/** From a question to the first visible chunk of an answer. */
export class Router {
  readonly catalog: Catalog;
  readonly #deps: RouterDeps;
  readonly #health = new Health();
  readonly #sessions = new Sessions();
  readonly #keyTurns = new KeyTurns();
  readonly #look: Catalog['look'] = (provider, model) => this.catalog.look(provider, model);

  constructor(deps: RouterDeps) {
    this.#deps = deps;
    this.catalog = deps.catalog;
  }

  answer(question: Question, call: CallScope): Promise<Answered> {
    const limits = within(this.#deps.limits(), question);
    let enriched: Promise<Ready> | undefined;
    const ready = () => (enriched ??= this.#deps.enrich(question.request(), call, question.steps ?? []));
    return this.perform(
      question,
      call,
      (target, scope) => {
        const opening = this.#openOrDetour(target, question, ready, scope, limits);
        const { credentials } = scope;
        return credentials.apiKey === undefined ? opening : opening.then((opened) => keepKey(opened, credentials));
      },
      // What is wrong with the request is nobody's failure to answer it.
      question.relay === undefined ? ready : undefined,
    );
  }

  /**
   * Asks targets in order until one has done what `open` asks of it. `open` gets a call of its own for each, with the
   * credentials for that target; what it opened must end when that call is cancelled. `prepare` runs before the first of them.
   */
  async perform<T>(
    { wish, keys, dropped = [], only }: Asked,
    call: CallScope,
    open: (target: Target, scope: CallScope) => Promise<T>,
    prepare?: () => Promise<unknown>,
  ): Promise<Performed<T>> {
    // The client may have left while its request was read, or waited for a place.
    if (call.cancelled !== undefined) throw call.cancelled;
    const [lost] = dropped;
    if (lost !== undefined && call.strict) call.drop(lost);
    const limits = this.#deps.limits();
    const { watcher } = this.#deps;
    watcher?.asked(call, wish);
    let isBalanced = false;
    const arrange: Arrange = (group, choice) => {
      isBalanced ||= choice !== 'order';
      return balance(group, choice, this.#health);
    };
    const ownKey = (provider: Provider, isChosen: boolean) => credentialsFor(provider, keys, isChosen);
    const found = only === undefined ? select(wish, this.#deps.preferences(), this.catalog, ownKey, arrange) : [only];
    let targets = 'then' in found ? await found : found;
    const session = isBalanced ? call.session : undefined;
    if (session !== undefined) targets = this.#sessions.prefer(session, targets);
    if (prepare !== undefined) await prepare();
    let scopeDropped: ReadonlySet<string> = new Set();
    let pace: Performed<T>['rateLimits'] = {};
    // One key is for one provider: where the client names several, the first of them.
    const chosen = targets.find(({ isChosen }) => isChosen === true)?.provider;
    const credentialsOf = ({ provider, key }: Target) =>
      key === undefined ? ownKey(provider, provider === chosen) : { apiKey: provider.keys?.()[key] ?? '' };
    const candidates = this.#keyTurns.expand(targets, (target) => credentialsOf(target).apiKey !== undefined);
    const attempted = await attempt(candidates, call, limits, this.#health, async (target) => {
      const credentials = credentialsOf(target);
      const scope = call.fork(credentials);
      watcher?.trying(call);
      try {
        const value = await open(target, scope);
        scopeDropped = scope.dropped;
        pace = rateLimitsOf(scope);
        watcher?.answered(call, target);
        return value;
      } catch (error) {
        scope.release();
        watcher?.missed(call, target, error);
        throw withoutKey(error, credentials);
      }
    });
    if (session !== undefined) this.#sessions.remember(session, attempted.target);
    return { ...attempted, dropped: [...dropped, ...call.dropped, ...scopeDropped], rateLimits: pace };
  }

  /** How often each provider has answered since the start. */
  get answers(): ReadonlyMap<string, number> {
    return this.#health.answers;
  }

  /** Records what an answer cost that came by `perform`. */
  spent(target: Target, usage: Usage, call: Call): void {
    this.#deps.onUsage(target, usage, call);
  }

  /**
   * Relays what can be relayed. What the upstream wants over another of its APIs is decoded, since `chat` knows the way; what it wants
   * said otherwise goes there once more.
   */
  #openOrDetour(
    target: Target,
    question: Question,
    ready: () => Promise<Ready>,
    scope: CallScope,
    limits: Limits,
  ): Promise<Answered['value']> {
    const relay = question.relay === undefined ? undefined : target.provider.relay;
    if (relay === undefined) return this.#open(target, question, ready, scope, limits);
    const { detours } = relay;
    const decode = (): Promise<Answered['value']> => {
      const { relay: _, ...decoded } = question;
      return this.#open(target, decoded, ready, scope, limits);
    };
    if (detours?.has(target.model)) return decode();
    return this.#open(target, question, ready, scope, limits).catch((error: unknown) => {
      if (!(error instanceof SluiceError)) throw error;
      if (detours?.learn(target.model, error)) return decode();
      if (relay.learn?.(target.model, error)) return this.#openOrDetour(target, question, ready, scope, limits);
      throw error;
    });
  }

  async #open(
    target: Target,
    question: Question,
    ready: () => Promise<Ready>,
    scope: CallScope,
    limits: Limits,
  ): Promise<Answered['value']> {
    const { deadlines, client } = this.#deps;
    const onEnd = ({ usage, finish, answeredAs }: Summary) => {
      if (usage !== undefined) this.#deps.onUsage(target, usage, scope);
      if (finish !== undefined) this.#deps.watcher?.finished(scope, finish, answeredAs);
    };
    const draws = answersWithImages(target, this.#look);
    const relay = target.provider.relay === undefined || draws ? undefined : question.relay?.(target, scope);
    if (relay === undefined) {
      const { asked, request: enriched, chunks } = await ready();
      const whole = question.instead && (await question.instead(enriched, target, scope));
      if (whole !== undefined) {
        scope.release();
        return {
          kind: 'chunks',
          isSent: true,
          chunks: chunks(new WholeAnswer(whole, undefined, target, enriched, onEnd, limits)),
          headers: rateLimitsOf(scope),
        };
      }
      const request = question.send?.(enriched, target) ?? enriched;
      const provider = draws
        ? imageAsChat(target.provider, { deadlines, limits, look: this.#look }, altOf(asked))
        : target.provider;
      const opened = await openChunks({ ...target, provider }, request, scope, deadlines, limits, onEnd);
      // What goes there was written anew.
      return { ...opened, isSent: true, chunks: chunks(opened.chunks), headers: rateLimitsOf(scope) };
    }
    const relayed = await openRelay(target, relay, scope, { client, deadlines, limits });
    switch (relayed.kind) {
      case 'body':
        this.#deps.watcher?.relayed(scope, relayed.pieces);
        if (relayed.usage !== undefined) this.#deps.onUsage(target, relayed.usage, scope);
        return relayed;
      case 'stream':
        return withEnd(relayed, this.#deps.watcher?.relays(scope), () => onEnd(relayed.summary()));
      case 'decoded': {
        const { request, chunks } = await ready();
        return {
          kind: 'chunks',
          isSent: false,
          chunks: chunks(new WholeAnswer(relayed.batch, undefined, target, request, onEnd, limits)),
          headers: rateLimits(relayed.headers),
        };
      }
      default:
        return unreachable(relayed);
    }
  }
}

/** The same stream; `tap` sees what is written, and `onEnd` runs before its end reaches the client. */
function withEnd(stream: RelayedStream, tap: ((latin1: string) => void) | undefined, onEnd: () => void): RelayedStream {
  return {
    kind: 'stream',
    headers: stream.headers,
    get isSent() {
      return stream.isSent;
    },
    attach: (sink) =>
      stream.attach({
        write:
          tap === undefined
            ? (latin1) => sink.write(latin1)
            : (latin1) => {
                tap(latin1);
                return sink.write(latin1);
              },
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

function within(limits: Limits, { idleMs }: Question): Limits {
  return idleMs === undefined || idleMs >= limits.idleMs ? limits : { ...limits, idleMs };
}
