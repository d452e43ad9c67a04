import { boundedCache } from '../../core/bounded-cache.ts';
import type { SluiceError } from '../../core/errors.ts';
import { MESSAGE_EXTRAS, type Service } from './services.ts';

/** Models that are remembered. */
const MOST_MODELS = 1_000;
/** How services say that a message has a member that they do not know. DeepSeek says of the same member that it is missing. */
const OF_MESSAGES = /\b(?:messages?|assistant)\b/i;
const EXPECTED = /\bexpected\b|did you mean/i;
const REFUSED = /unsupported|not supported|not permitted|not allowed|unknown|unrecognized|unexpected/i;

/** What is known of a service, and what its models were heard to refuse of messages. */
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
   * Whether a failure says that messages may not have some of those members, which was not known yet: the request may be sent again
   * without. It is remembered for the model.
   */
  learn(model: string, { code, message, options }: SluiceError): boolean {
    // What they expect in its place is not refused.
    const said = `${options.param ?? ''} ${message}`.split(EXPECTED, 1)[0] ?? '';
    if (code !== 'invalid_request' || !REFUSED.test(said) || !OF_MESSAGES.test(said)) return false;
    const service = this.of(model);
    // As a name: in quotes, or at the end of a path.
    const isNamed = (name: string): boolean => new RegExp(`['"\`.]${name}\\b`).test(said);
    const names = MESSAGE_EXTRAS.filter((name) => isNamed(name) && service.refuses?.has(name) !== true);
    if (names.length === 0) return false;
    this.#models.set(model, { ...service, refuses: new Set([...(service.refuses ?? []), ...names]) });
    return true;
  }
}
