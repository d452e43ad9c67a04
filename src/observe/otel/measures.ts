import { ModelNames } from '../metrics/names.ts';
import type { Observation } from '../observation.ts';
import { isFailure } from '../request-log.ts';
import { type AttributeValue, attributes, nanoseconds } from './otlp.ts';
import { operationName, providerName } from './words.ts';

/** The bounds that the conventions for generative AI ask for. */
const DURATION_BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKEN_BOUNDS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const FIRST_BOUNDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** AGGREGATION_TEMPORALITY_CUMULATIVE */
const CUMULATIVE = 2;
const MOST_POINTS = 2_000;

type Attributes = Readonly<Record<string, AttributeValue>>;

class Measure {
  readonly #about: { readonly name: string; readonly unit: string; readonly description: string };
  readonly #bounds: readonly number[];
  readonly #points = new Map<string, { readonly of: Attributes; buckets: number[]; sum: number; count: number }>();

  constructor(name: string, unit: string, description: string, bounds: readonly number[]) {
    this.#about = { name, unit, description };
    this.#bounds = bounds;
  }

  record(of: Attributes, value: number): void {
    const name = JSON.stringify(of);
    let point = this.#points.get(name);
    if (point === undefined) {
      if (this.#points.size >= MOST_POINTS) return;
      point = { of, buckets: Array.from({ length: this.#bounds.length + 1 }, () => 0), sum: 0, count: 0 };
      this.#points.set(name, point);
    }
    const at = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? this.#bounds.length : at;
    point.buckets[bucket] = (point.buckets[bucket] ?? 0) + 1;
    point.sum += value;
    point.count += 1;
  }

  toOtlp(start: string, now: string): readonly object[] {
    if (this.#points.size === 0) return [];
    const dataPoints = [...this.#points.values()].map(({ of, buckets, sum, count }) => ({
      attributes: attributes(of),
      startTimeUnixNano: start,
      timeUnixNano: now,
      count: String(count),
      sum,
      bucketCounts: buckets.map(String),
      explicitBounds: this.#bounds,
    }));
    return [{ ...this.#about, histogram: { aggregationTemporality: CUMULATIVE, dataPoints } }];
  }
}

/** The metrics that the conventions name for clients of models, which Sluice is. */
export class Measures {
  readonly #start = nanoseconds(Date.now());
  readonly #names = new ModelNames();
  readonly #duration = new Measure(
    'gen_ai.client.operation.duration',
    's',
    'GenAI operation duration.',
    DURATION_BOUNDS,
  );
  readonly #tokens = new Measure(
    'gen_ai.client.token.usage',
    '{token}',
    'Number of input and output tokens used.',
    TOKEN_BOUNDS,
  );
  readonly #first = new Measure(
    'gen_ai.client.operation.time_to_first_chunk',
    's',
    'Time to receive the first chunk.',
    FIRST_BOUNDS,
  );

  add(seen: Observation): void {
    const { operation, provider, model = '', usage, failures } = seen;
    const of = (id: string, name: string, hasAnswered: boolean): Attributes => ({
      'gen_ai.operation.name': operationName(operation),
      'gen_ai.provider.name': providerName(id),
      'gen_ai.request.model': this.#names.label(id, name, hasAnswered),
    });
    for (const failure of failures) {
      const error = { 'error.type': failure.code };
      this.#duration.record({ ...of(failure.provider, failure.model, false), ...error }, failure.duration / 1_000);
    }
    if (provider === undefined) return;
    const own = of(provider, model, seen.status < 400);
    const error = isFailure(seen) && seen.error !== undefined ? { 'error.type': seen.error.code } : {};
    this.#duration.record({ ...own, ...error }, Math.max(0, seen.duration - seen.askedAt) / 1_000);
    if (seen.firstChunk !== undefined && seen.stream) {
      this.#first.record(own, Math.max(0, seen.firstChunk - seen.askedAt) / 1_000);
    }
    if (usage === undefined) return;
    this.#tokens.record({ ...own, 'gen_ai.token.type': 'input' }, usage.promptTokens);
    this.#tokens.record({ ...own, 'gen_ai.token.type': 'output' }, usage.completionTokens);
  }

  toOtlp(): readonly object[] {
    const now = nanoseconds(Date.now());
    return [this.#duration, this.#tokens, this.#first].flatMap((measure) => measure.toOtlp(this.#start, now));
  }
}
