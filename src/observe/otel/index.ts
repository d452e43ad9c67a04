import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../../core/logger.ts';
import type { UpstreamClient } from '../../outbound/upstream.ts';
import type { OtelConfig } from '../config.ts';
import type { Observation } from '../observation.ts';
import type { Sink } from '../observer.ts';
import { Measures } from './measures.ts';
import { attributes } from './otlp.ts';
import { Complaints, Sender } from './sender.ts';
import { type AddressOf, spansOf, type Told } from './spans.ts';
import { headersFor, newSpanId, traceContext } from './trace-context.ts';

/** Requests that wait for a collector; beyond it they are not traced, and the gateway goes on. */
const MOST_WAITING = 2_048;
const BATCH = 256;
/** How often the same batch is tried. */
const TRIES = 3;
/** How long the end of the process waits for a collector, in milliseconds. */
const LAST_MS = 3_000;

interface OtelOptions {
  readonly config: OtelConfig;
  readonly version: string;
  readonly addressOf: AddressOf;
  readonly log: Logger;
}

/** Sends traces and metrics to a collector, in batches, behind the requests. Nothing here can hold up or fail a request. */
export class Otel implements Sink {
  readonly #options: OtelOptions;
  readonly #traces: Sender | undefined;
  readonly #metrics: Sender | undefined;
  readonly #measures = new Measures();
  readonly #told = new WeakMap<Observation, { context: Told['context']; attempts: string[] }>();
  readonly #headers = new AsyncLocalStorage<Readonly<Record<string, string>>>();
  readonly #metricTimer: NodeJS.Timeout | undefined;
  #waiting: Observation[] = [];
  #dropped = 0;
  #tries = 0;
  #traceTimer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: OtelOptions) {
    const { config, log } = options;
    const { headers, timeoutMs, tracesUrl, metricsUrl } = config;
    this.#options = options;
    const complaints = new Complaints(log);
    if (tracesUrl !== undefined) this.#traces = new Sender({ url: tracesUrl, headers, timeoutMs, complaints });
    if (metricsUrl === undefined) return;
    this.#metrics = new Sender({ url: metricsUrl, headers, timeoutMs, complaints });
    this.#metricTimer = setInterval(() => void this.#sendMetrics(), config.metricIntervalMs).unref();
  }

  /** Before a provider is asked: whatever is sent to it from here on belongs to this attempt. */
  trying(observation: Observation): void {
    if (!this.#options.config.propagates) return;
    const told = this.#told.get(observation) ?? { context: contextOf(observation), attempts: [] };
    this.#told.set(observation, told);
    const id = newSpanId();
    told.attempts.push(id);
    this.#headers.enterWith(headersFor(told.context, id));
  }

  take(observation: Observation): void {
    this.#measures.add(observation);
    if (this.#traces === undefined) return;
    if (this.#waiting.length >= MOST_WAITING) {
      if (this.#dropped === 0) this.#options.log.warn({}, 'requests come faster than traces can be sent');
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(observation);
    if (this.#waiting.length >= BATCH && this.#tries === 0) void this.#flush();
    else this.#later();
  }

  /** A client that tells upstreams to which trace a request belongs, where that is wanted. */
  client(client: UpstreamClient): UpstreamClient {
    if (!this.#options.config.propagates) return client;
    return {
      send: (request, handler) => {
        const headers = this.#headers.getStore();
        return client.send(
          headers === undefined ? request : { ...request, headers: { ...request.headers, ...headers } },
          handler,
        );
      },
      close: () => client.close(),
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#metricTimer);
    clearTimeout(this.#traceTimer);
    const last = async (): Promise<void> => {
      const sending = this.#sendMetrics();
      // Each turn sends one batch, or gives one up.
      for (let turns = Math.ceil(MOST_WAITING / BATCH); turns > 0 && this.#waiting.length > 0; turns -= 1) {
        const { length } = this.#waiting;
        await this.#flush();
        if (this.#waiting.length === length) break;
      }
      await sending;
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LAST_MS);
    });
    await Promise.race([last(), late]);
    clearTimeout(timer);
    clearTimeout(this.#traceTimer);
  }

  #later(): void {
    const waitMs = this.#options.config.traceIntervalMs * 2 ** this.#tries;
    this.#traceTimer ??= setTimeout(() => void this.#flush(), waitMs).unref();
  }

  #flush(): Promise<void> {
    clearTimeout(this.#traceTimer);
    this.#traceTimer = undefined;
    this.#sending = this.#sending.then(() => this.#sendBatch());
    return this.#sending;
  }

  async #sendBatch(): Promise<void> {
    if (this.#traces === undefined || this.#waiting.length === 0) return;
    const batch = this.#waiting.slice(0, BATCH);
    const spans = batch.flatMap((each) => this.#spansOf(each));
    const outcome = spans.length === 0 ? 'sent' : await this.#traces.send(this.#resourceSpans(spans));
    this.#tries = outcome === 'again' ? this.#tries + 1 : 0;
    if (outcome !== 'again' || this.#tries >= TRIES) {
      this.#waiting = this.#waiting.slice(batch.length);
      this.#tries = 0;
    }
    if (this.#waiting.length > 0) this.#later();
  }

  #spansOf(observation: Observation) {
    const told = this.#told.get(observation) ?? { context: contextOf(observation), attempts: [] };
    // A batch that is sent once more has the same ids.
    this.#told.set(observation, told);
    return told.context.isSampled ? spansOf(observation, told, this.#options.addressOf) : [];
  }

  async #sendMetrics(): Promise<void> {
    const metrics = this.#measures.toOtlp();
    if (metrics.length === 0) return;
    await this.#metrics?.send({
      resourceMetrics: [{ resource: this.#resource(), scopeMetrics: [{ scope: this.#scope(), metrics }] }],
    });
  }

  #resourceSpans(spans: readonly object[]): object {
    return { resourceSpans: [{ resource: this.#resource(), scopeSpans: [{ scope: this.#scope(), spans }] }] };
  }

  #resource(): object {
    const { config, version } = this.#options;
    const { serviceName, resource } = config;
    return { attributes: attributes({ ...resource, 'service.name': serviceName, 'service.version': version }) };
  }

  #scope(): object {
    return { name: 'sluice', version: this.#options.version };
  }
}

function contextOf({ traceparent, tracestate }: Observation): Told['context'] {
  return traceContext(traceparent, tracestate);
}
