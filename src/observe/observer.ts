import { answeredAs } from '../core/answered-as.ts';
import type { Call } from '../core/call.ts';
import type { AnsweredAs, Usage } from '../core/chunk.ts';
import { clientLeft, SluiceError, toSluiceError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { parseObject } from '../core/objects.ts';
import { headOf, join, type Pieces, sizeOf, tailOf } from '../core/pieces.ts';
import type { Ability } from '../core/provider.ts';
import { Roster } from '../core/roster.ts';
import type { Secrets } from '../core/secrets.ts';
import type { Step } from '../core/stream.ts';
import type { Cost } from '../core/usage.ts';
import type { RouteWatcher } from '../routing/router.ts';
import type { Target, Wish } from '../routing/select.ts';
import { logLine } from './access-log.ts';
import { ChunkTap, WireTap } from './answer-taps.ts';
import type { ObserveConfig } from './config.ts';
import { contentOf } from './content.ts';
import type { Ledger } from './ledger.ts';
import { Observation, type Operation, type RouteKind } from './observation.ts';

const LONGEST_NAME = 256;
/** In which an answer says why it ended: this stands behind its text. */
const FINISH_BYTES = 64 * 1024;
/** Up to this size an answer is read for its name, which may stand anywhere; of a larger one the beginning is searched. */
const READ_BYTES = 64 * 1024;
const NAME_BYTES = 4 * 1024;
const ID = /"id"\s*:\s*"([^"\\]+)"/;
const MODEL = /"model"\s*:\s*"([^"\\]+)"/;
/** Both are noted and never thrown, so that one of each is enough. */
const CUT = new SluiceError('upstream_cut', 'The answer ended before it was complete.');
const LEFT = clientLeft();

/** Where nothing came before the whole answer, the time to its first piece says nothing. */
const WHOLE: ReadonlySet<Operation> = new Set(['embedding', 'rerank', 'moderation', 'count_tokens', 'image']);

const OPERATIONS: Readonly<Record<Ability, Operation>> = {
  chat: 'chat',
  image: 'image',
  speech: 'speech',
  transcribe: 'transcription',
  embed: 'embedding',
  moderate: 'moderation',
  rerank: 'rerank',
};

/** Told of every finished request that asked models: traces are made of it. */
export interface Sink {
  /** A provider is about to be asked. */
  trying?(observation: Observation): void;
  take(observation: Observation): void;
  close(): Promise<void>;
}

interface ObserverDeps {
  readonly config: ObserveConfig;
  readonly ledger: Ledger;
  readonly secrets: Secrets;
  readonly log: Logger;
  readonly sink?: Sink | undefined;
}

/**
 * Sees every request once it has begun and once when it is over, and routing's news in between. From the one record that comes
 * of it everything else is made: counters, the request log, lines of the log, sums of days, traces.
 */
export class Observer implements RouteWatcher {
  readonly ledger: Ledger;
  readonly mode: ObserveConfig['requestLog'];
  readonly #deps: ObserverDeps;
  readonly #running = new Roster<Observation>();

  constructor(deps: ObserverDeps) {
    this.#deps = deps;
    this.ledger = deps.ledger;
    this.mode = deps.config.requestLog;
  }

  /** Whether traces are made of requests. */
  get traces(): boolean {
    return this.#deps.sink !== undefined;
  }

  /** Streams that are open to clients. */
  get streams(): number {
    let count = 0;
    this.#running.each(({ stream }) => {
      if (stream) count += 1;
    });
    return count;
  }

  // The life of a request

  begin(id: string, method: string, route: string, kind: RouteKind | undefined): Observation {
    const observation = new Observation(id, method, route, kind);
    this.#running.add(observation);
    return observation;
  }

  /** Another process answers this request, and notes it. */
  forget(observation: Observation): void {
    this.#running.remove(observation);
    observation.isForgotten = true;
  }

  /** The response is over. */
  closed(observation: Observation, status: number, isWhole: boolean): void {
    if (observation.isForgotten) return;
    if (!isWhole && !observation.isDetached && observation.error === undefined) observation.failed(LEFT);
    observation.status = !isWhole && observation.error?.code === 'cancelled' ? LEFT.status : status;
    if (observation.pending > 1) observation.isDetached = true;
    this.#release(observation);
  }

  /** An answer is being made for a request, perhaps longer than its response lasts. The function says that it is over. */
  entered(call: Call): () => void {
    const observation = noted(call);
    if (observation === undefined) return () => {};
    observation.pending += 1;
    if (observation.pending > 2) observation.isDetached = true;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      observation.user = call.user;
      const { cancelled } = call;
      if (cancelled !== undefined && call.watched === observation) observation.failed(toSluiceError(cancelled));
      this.#release(observation);
    };
  }

  // What routing tells

  asked(call: Call, { model, ability = 'chat' }: Wish): void {
    const observation = noted(call);
    if (observation === undefined) return;
    observation.dialect ??= 'openai';
    observation.operation ??= OPERATIONS[ability];
    if (model !== '') observation.asked ??= shortened(model);
  }

  trying(call: Call): void {
    const observation = noted(call);
    if (observation === undefined) return;
    observation.askedAt = observation.elapsed();
    this.#deps.sink?.trying?.(observation);
  }

  missed(call: Call, { provider, model }: Target, thrown: unknown): void {
    const observation = noted(call);
    if (observation === undefined) return;
    const { code, status } = toSluiceError(call.cancelled ?? thrown);
    const { askedAt: after } = observation;
    const duration = observation.elapsed() - after;
    observation.missed({ provider: provider.id, model: shortened(model), code, status, after, duration });
  }

  answered(call: Call, { provider, model }: Target): void {
    const observation = noted(call);
    if (observation === undefined) return;
    observation.attempts += 1;
    observation.provider = provider.id;
    observation.model = shortened(model);
    const { operation } = observation;
    if (operation === undefined || !WHOLE.has(operation)) observation.firstChunk ??= observation.elapsed();
  }

  spent(usage: Usage, cost: Cost, call: Call): void {
    const observation = noted(call);
    if (observation === undefined) return;
    observation.spent(usage);
    if (!(cost instanceof Promise)) {
      this.#charge(observation, cost);
      return;
    }
    observation.openPrices += 1;
    void cost.then((known) => {
      observation.openPrices -= 1;
      this.#charge(observation, known);
      if (observation.isOver && observation.openPrices === 0) this.ledger.keep(observation);
    });
  }

  relays(call: Call): ((latin1: string) => void) | undefined {
    if (this.mode !== 'full') return undefined;
    const tap = new WireTap(true);
    const observation = noted(call);
    if (observation !== undefined) observation.tap = tap;
    return (latin1) => tap.take(Buffer.from(latin1, 'latin1'));
  }

  finished(call: Call, finish: string, named: AnsweredAs | undefined): void {
    const observation = this.traces ? noted(call) : undefined;
    if (observation === undefined) return;
    observation.finishes = [...observation.finishes, finish];
    observation.answeredAs ??= named;
  }

  relayed(call: Call, pieces: Pieces): void {
    const observation = noted(call);
    if (observation === undefined) return;
    // Nothing of it came earlier than the rest.
    observation.firstChunk = Number.NaN;
    if (this.traces) {
      observation.finishes = finishesIn(pieces);
      observation.answeredAs = nameIn(pieces);
    }
    if (this.mode !== 'full') return;
    const tap = new WireTap(false);
    // They are not ours once they are sent.
    for (const piece of pieces) tap.take(Buffer.from(piece));
    observation.tap = tap;
  }

  /** Gathers what answers say, where that is kept; else there is none. */
  get step(): Step | undefined {
    if (this.mode !== 'full') return undefined;
    const taps = (call: Call): ChunkTap => {
      const tap = new ChunkTap();
      const observation = noted(call);
      if (observation !== undefined) observation.tap ??= tap;
      return tap;
    };
    return {
      name: 'observe',
      enrich: (request, call) => ({
        request,
        async *chunks(batches) {
          const tap = taps(call);
          for await (const batch of batches) {
            tap.take(batch);
            yield batch;
          }
        },
      }),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.ledger.close(), this.#deps.sink?.close()]);
  }

  #release(observation: Observation): void {
    observation.pending -= 1;
    if (observation.pending === 0) this.#finish(observation);
  }

  #finish(observation: Observation): void {
    this.#running.remove(observation);
    observation.duration = observation.elapsed();
    if (Number.isNaN(observation.firstChunk)) observation.firstChunk = undefined;
    // Nobody tells how an answer ended that does not belong to a response; one that ended well has its usage.
    if (observation.isDetached && observation.provider !== undefined && observation.usage === undefined) {
      observation.failed(CUT);
    }
    // What asked no model is not worth remembering, and whoever was not let in could fill all the room.
    if (observation.operation === undefined || !observation.admitted) {
      observation.seal();
      this.ledger.count(observation);
      return;
    }
    const { config, secrets, log, sink } = this.#deps;
    observation.isOver = true;
    sink?.take(observation);
    logLine(observation, config.accessLog, log);
    if (this.mode === 'full') this.#keepContent(observation, secrets);
    else if (observation.error !== undefined) {
      const { code, name } = observation.error;
      observation.error = { code, name };
    }
    observation.seal();
    // Into the log it comes once all is known of it.
    this.ledger.add(observation, observation.openPrices === 0);
    if (observation.isCharged) this.ledger.spent(observation, observation.cost);
  }

  #keepContent(observation: Observation, secrets: Secrets): void {
    observation.content = contentOf(observation, secrets);
    const { error } = observation;
    if (error?.message !== undefined) observation.error = { ...error, message: secrets.mask(error.message) };
  }

  /** What a request cost is told once it is over, when all else is known of it; or, if that comes later, then. */
  #charge(observation: Observation, cost: number | null): void {
    if (cost !== null) observation.cost = (observation.cost ?? 0) + cost;
    if (observation.isOver) this.ledger.spent(observation, cost);
    else observation.isCharged = true;
  }
}

/** What is noted of the request of a call, as long as it runs. */
function noted({ watched }: Call): Observation | undefined {
  return watched instanceof Observation && watched.place !== -1 ? watched : undefined;
}

/** Why the choices of a completion in OpenAI's wire format ended. In JSON a quote inside a text is escaped, so no text of a model matches. */
function finishesIn(pieces: Pieces): readonly string[] {
  const end = tailOf(pieces, FINISH_BYTES).toString('latin1');
  return Array.from(end.matchAll(/"finish_reason"\s*:\s*"([a-z_]{1,64})"/g), ([, finish = '']) => finish);
}

/** What a completion in OpenAI's wire format is called. Before the choices of a large one no text of a model stands. */
function nameIn(pieces: Pieces): AnsweredAs | undefined {
  if (sizeOf(pieces) <= READ_BYTES) {
    const { id, model } = parseObject(join(pieces).toString('utf8')) ?? {};
    return answeredAs(id, model).answeredAs;
  }
  const [head = ''] = headOf(pieces, NAME_BYTES).toString('utf8').split('"choices"', 1);
  return answeredAs(ID.exec(head)?.[1], MODEL.exec(head)?.[1]).answeredAs;
}

/** Names of models come from clients. */
function shortened(model: string): string {
  return model.length > LONGEST_NAME ? model.slice(0, LONGEST_NAME) : model;
}
