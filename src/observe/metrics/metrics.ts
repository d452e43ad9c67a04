import type { Seen } from '../observation.ts';
import { Counter, escaped, gauge, Histogram } from './families.ts';
import { ModelNames } from './names.ts';
import { ProcessMetrics } from './process.ts';

/** Seconds: from a small local answer to a long one by a model that thinks. */
const FIRST_CHUNK_BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const DURATION_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** What is true at the moment. */
export interface Present {
  readonly running: number;
  readonly streams: number;
  readonly version: string;
}

/** Everything that `GET /metrics` tells. */
export class Metrics {
  readonly #names = new ModelNames();
  readonly #process = new ProcessMetrics();
  readonly #families = {
    requests: new Counter(
      'sluice_requests_total',
      'Finished requests by route, dialect, provider and model that answered, and status.',
      ['method', 'route', 'dialect', 'provider', 'model', 'status'],
    ),
    broken: new Counter('sluice_streams_broken_total', 'Answers that failed after they had begun with status 200.', [
      'dialect',
      'provider',
      'code',
    ]),
    duration: new Histogram(
      'sluice_request_duration_seconds',
      'From a request to models to the end of its answer.',
      ['dialect', 'operation', 'provider', 'model'],
      DURATION_BOUNDS,
    ),
    firstChunk: new Histogram(
      'sluice_time_to_first_chunk_seconds',
      'From a request to the first visible piece of its answer.',
      ['dialect', 'provider', 'model'],
      FIRST_CHUNK_BOUNDS,
    ),
    tokens: new Counter('sluice_tokens_total', 'Tokens, in (cached ones included) and out.', [
      'provider',
      'model',
      'type',
    ]),
    cost: new Counter('sluice_cost_usd_total', 'What answers cost whose price is known, in US dollars.', [
      'provider',
      'model',
    ]),
    attempts: new Counter('sluice_upstream_attempts_total', 'How often a provider was asked.', ['provider']),
    errors: new Counter('sluice_upstream_errors_total', 'How often a provider failed, by kind of error.', [
      'provider',
      'code',
    ]),
    fallbacks: new Counter(
      'sluice_fallbacks_total',
      'Answers that came from another target than the first one asked.',
      ['provider'],
    ),
  };

  /** Counts a finished request. */
  add(seen: Seen): void {
    const { method, route, dialect = '', operation, provider = '', status, error, failures, attempts, usage } = seen;
    const model = this.#names.label(provider, seen.model ?? '', hasAnswered(seen));
    this.#families.requests.add([method, route, dialect, provider, model, String(status)]);
    if (operation === undefined) return;
    if (status < 400) {
      this.#families.duration.observe([dialect, operation, provider, model], seen.duration / 1_000);
      if (error !== undefined) this.#families.broken.add([dialect, provider, error.code]);
    }
    if (seen.firstChunk !== undefined)
      this.#families.firstChunk.observe([dialect, provider, model], seen.firstChunk / 1_000);
    if (attempts > failures.length) this.#families.attempts.add([provider], attempts - failures.length);
    for (const failure of failures) {
      this.#families.attempts.add([failure.provider]);
      // That the client left is nobody's failure.
      if (failure.code !== 'cancelled') this.#families.errors.add([failure.provider, failure.code]);
    }
    const [first] = failures;
    if (first !== undefined && provider !== '' && (first.provider !== provider || first.model !== seen.model)) {
      this.#families.fallbacks.add([provider]);
    }
    if (usage === undefined) return;
    this.#families.tokens.add([provider, model, 'input'], usage.promptTokens);
    this.#families.tokens.add([provider, model, 'output'], usage.completionTokens);
    if (usage.cachedTokens !== undefined) this.#families.tokens.add([provider, model, 'cached'], usage.cachedTokens);
    if (usage.reasoningTokens !== undefined)
      this.#families.tokens.add([provider, model, 'reasoning'], usage.reasoningTokens);
  }

  /** A cost may be known later than the end of its request. */
  spent(seen: Seen, cost: number): void {
    const { provider = '', model = '' } = seen;
    this.#families.cost.add([provider, this.#names.label(provider, model, hasAnswered(seen))], cost);
  }

  /** @param processes metrics of the processes, where they are not those of this one */
  async render({ running, streams, version }: Present, processes?: string): Promise<string> {
    return [
      gauge('sluice_info', 'Which Sluice this is.', [
        [`version="${escaped(version)}",node="${escaped(process.versions.node)}"`, 1],
      ]),
      gauge('sluice_requests_running', 'Answers that are being made.', running),
      gauge('sluice_streams_running', 'Streams that are open to clients.', streams),
      ...Object.values(this.#families).map((family) => family.render()),
      processes ?? (await this.#process.render()),
    ].join('');
  }

  stop(): void {
    this.#process.stop();
  }
}

/** Whether an answer had begun, be it that the client did not wait for its end. */
function hasAnswered({ attempts, failures }: Seen): boolean {
  return attempts > failures.length;
}
