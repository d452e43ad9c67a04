import { boundedCache } from '../../core/bounded-cache.ts';
import type { ChatRequest } from '../../core/chat.ts';
import { membersOf, parseObject, wordsOf } from '../../core/objects.ts';
import { longestDescription, withShortDescriptions } from './short-descriptions.ts';

type Json = Record<string, unknown>;

/** Models, and combinations of a model and an effort, that are remembered. */
const MOST_KNOWN = 1_000;
/** OpenAI's words for a field of which a model takes no value but one, which is as good as none. Others may be fine where one is not. */
const ONLY_DEFAULT = /\bonly the default \(([^)]*)\) value is supported/i;
/** Two names of one field, of which models know either. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_completion_tokens'],
  ['max_completion_tokens', 'max_tokens'],
]);
/** Fields without which the request is still the same question. */
const OPTIONAL: ReadonlySet<string> = new Set([
  ...OTHER_NAMES.keys(),
  'temperature',
  'top_p',
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'seed',
  'stop',
  'parallel_tool_calls',
  'verbosity',
]);

/**
 * What an upstream's models were heard to refuse of how they shall choose their words, as OpenAI's do that think. It depends on the effort,
 * too. Clients of other formats cannot know, so their requests go without. The same goes for descriptions of tools beyond some length.
 */
export class RefusedFields {
  /** The names of fields, and the only values that these may have, if they may have any. */
  readonly #known = boundedCache<string, ReadonlyMap<string, string | undefined>>(MOST_KNOWN);
  /** How long descriptions of tools may be, by model. */
  readonly #longest = boundedCache<string, number>(MOST_KNOWN);

  /** Whether an upstream that answered `sent` with a status of 400 has named a field to leave out or shorten. It is remembered. */
  learn(request: ChatRequest, sent: Json, answer: Buffer): boolean {
    const error = membersOf(parseObject(answer.toString('utf8'))?.['error']);
    return this.#learnLength(request, sent, error) || this.#learnField(request, sent, error);
  }

  #learnLength({ model }: ChatRequest, sent: Json, error: Json): boolean {
    const most = longestDescription(error);
    // Where none is longer than that, shortening would do no good.
    if (most === undefined || withShortDescriptions(sent['tools'], most) === undefined) return false;
    this.#longest.set(model, most);
    return true;
  }

  #learnField(request: ChatRequest, sent: Json, { code, param, message }: Json): boolean {
    if (typeof param !== 'string' || !OPTIONAL.has(param) || !Object.hasOwn(sent, param)) return false;
    const only = code === 'unsupported_value' ? ONLY_DEFAULT.exec(wordsOf(message))?.[1] : undefined;
    if (only === undefined && code !== 'unsupported_parameter') return false;
    const key = keyOf(request);
    this.#known.set(key, new Map([...(this.#known.get(key) ?? []), [param, only]]));
    return true;
  }

  /** A body without what its model refuses; `drop` hears of what is lost. */
  leaveOut(request: ChatRequest, body: Json, drop: (field: string) => void): Json {
    return this.#withoutFields(request, this.#shortened(request, body, drop), drop);
  }

  #shortened({ model }: ChatRequest, body: Json, drop: (field: string) => void): Json {
    const most = this.#longest.get(model);
    const tools = most === undefined ? undefined : withShortDescriptions(body['tools'], most);
    if (tools === undefined) return body;
    drop('tools.description');
    return { ...body, tools };
  }

  #withoutFields(request: ChatRequest, body: Json, drop: (field: string) => void): Json {
    const refused = this.#known.get(keyOf(request));
    if (refused === undefined) return body;
    const left: Json = {};
    for (const [name, value] of Object.entries(body)) {
      const taken = [name, OTHER_NAMES.get(name)].find((each) => each !== undefined && !refused.has(each));
      if (taken !== undefined) left[taken] = value;
      else if (wordsOf(value) !== refused.get(name)) drop(name);
    }
    return left;
  }
}

function keyOf({ model, sampling }: ChatRequest): string {
  return `${sampling.reasoningEffort ?? ''} ${model}`;
}
