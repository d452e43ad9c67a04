import { boundedCache } from '../../core/bounded-cache.ts';
import type { SluiceError } from '../../core/errors.ts';
import { MESSAGE_EXTRAS, type Service } from './services.ts';

/** Models that are remembered. */
const MOST_MODELS = 1_000;
/** How DeepSeek and Kimi say that thoughts did not come back. */
const MISSES_THOUGHTS = /\breasoning[_ ]content\b.*(?:passed back|missing)|\bmissing\b.{0,9}\breasoning_content\b/i;
/** How services say that a message has a member that they do not know. */
const OF_MESSAGES = /\b(?:messages?|assistant)\b/i;
const EXPECTED = /\bexpected\b|did you mean/i;
const REFUSED = /unsupported|not supported|not permitted|not allowed|unknown|unrecognized|unexpected/i;

/** What is known of a service, and what its models were heard to refuse or to miss of messages. */
export class LearnedService {
  readonly known: Service;
  readonly #models = boundedCache<string, Service>(MOST_MODELS);

  constructor(known: Service) {
    this.known = known;
  }

  of(model: string): Service {
    return this.#models.size === 0 ? this.known : (this.#models.get(model) ?? this.known);
  }

  /**
   * Whether a failure says of messages what was not known yet: that they may not have some of those members, or that they want thoughts.
   * The request may be sent again as it is taken then. It is remembered for the model.
   */
  learn(model: string, failure: SluiceError): boolean {
    if (failure.code !== 'invalid_request') return false;
    return this.#learnWanted(model, failure) || this.#learnRefused(model, failure);
  }

  #learnWanted(model: string, { message }: SluiceError): boolean {
    const service = this.of(model);
    if (service.wantsThoughts === true || !MISSES_THOUGHTS.test(message)) return false;
    this.#models.set(model, { ...service, wantsThoughts: true });
    return true;
  }

  #learnRefused(model: string, { message, options }: SluiceError): boolean {
    // What they expect in its place is not refused.
    const said = `${options.param ?? ''} ${message}`.split(EXPECTED, 1)[0] ?? '';
    if (!REFUSED.test(said) || !OF_MESSAGES.test(said)) return false;
    const service = this.of(model);
    // As a name: in quotes, or at the end of a path.
    const isNamed = (name: string): boolean => new RegExp(`['"\`.]${name}\\b`).test(said);
    const names = MESSAGE_EXTRAS.filter((name) => isNamed(name) && service.refuses?.has(name) !== true);
    if (names.length === 0) return false;
    this.#models.set(model, { ...service, refuses: new Set([...(service.refuses ?? []), ...names]) });
    return true;
  }
}
