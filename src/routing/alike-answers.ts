import type { Usage } from '../core/chunk.ts';
import { countOf } from '../core/count.ts';
import { SCRATCH_BYTES, scratchForText, stringAt } from '../core/plain-text.ts';

/** Models, over all providers, whose form is remembered. Their names come from clients. */
const MOST = 200;
/** Upstreams whose answers are different each time are not learned from for ever. */
const MOST_VAIN = 8;
/** Answers that hold more than this beside their text (log probabilities, calls) differ each time. */
const LONGEST_PATTERN = 8_192;
/** By how much what stands before the text may be longer than it was: names are of different lengths. */
const MORE_BEFORE = 256;

/** Strings (between keys and values no difference), numbers, and what stands between them, of a text that is JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[^"\d-]+/gs;
const KEY_END = /^\s*:/;

/** The name of the text. */
const TEXT = 'content';

/** Any string of JSON without escapes, one that is not empty, and a count. */
const PLAIN = '"[^"\\\\\\u0000-\\u001f]*"';
const SOME = '"[^"\\\\\\u0000-\\u001f]+"';
const COUNT = '(?:0|[1-9]\\d{0,8})';

/** What differs from answer to answer, by the name in front of it. Everything else has to be the same, byte for byte. */
const VARYING = new Map([
  ['id', SOME],
  ['model', SOME],
  ['system_fingerprint', PLAIN],
  ['finish_reason', '"(?:stop|length)"'],
  ['created', '(?:0|[1-9]\\d{0,14})'],
]);
/** What is read of a usage, by its name; the last two stand in details. */
const READ = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'cached_tokens', 'reasoning_tokens'] as const;
/** What would have to be read where it is not zero, as it mostly is: an answer that says so is parsed. */
const RARE: readonly string[] = ['cache_write_tokens', 'cache_creation_input_tokens'];

/** What stands before the text and its opening quote, and behind its closing one. */
interface Form {
  readonly before: RegExp;
  readonly behind: RegExp;
  /** Bytes in which the beginning is looked for. */
  readonly beginning: number;
  /** Where each of `READ` is among the groups of both patterns. */
  readonly places: readonly number[];
}

interface Known {
  form: Form | undefined;
  /** How often it was learned since an answer had it. */
  vain: number;
}

/**
 * Whole answers that are like one that was parsed before and had nothing to mend: of one model nearly all are, save for their
 * text and figures. Two patterns and a look through the text check the rest of the answer too, in a fifth of the time that parsing takes.
 */
export class AlikeAnswers {
  readonly #known = new Map<string, Map<string, Known>>();
  #size = 0;

  /** The usage of an answer that is like the learned one; undefined: it has to be parsed. */
  usageOf(bytes: Buffer, provider: string, model: string): Usage | undefined {
    const known = this.#known.get(provider)?.get(model);
    if (known?.form === undefined) return undefined;
    const groups = groupsIn(bytes, known.form);
    if (groups === undefined) return undefined;
    known.vain = 0;
    return usageIn(groups, known.form.places);
  }

  /** Remembers an answer that was passed on as it was, and that says all of `usage`. */
  learn(bytes: Buffer, usage: Usage, provider: string, model: string): void {
    const known = this.#knownOf(provider, model);
    if (known.vain >= MOST_VAIN || (usage.cacheWriteTokens ?? 0) > 0) return;
    known.vain += 1;
    known.form = undefined;
    const form = formOf(bytes.toString('latin1'));
    const groups = form && groupsIn(bytes, form);
    if (form === undefined || groups === undefined) return;
    // Names may stand somewhere else too, where they mean something else.
    const read: Usage = usageIn(groups, form.places);
    if (Object.entries(read).every(([name, count]) => count === usage[name as keyof Usage])) known.form = form;
  }

  #knownOf(provider: string, model: string): Known {
    const present = this.#known.get(provider)?.get(model);
    if (present !== undefined) return present;
    if (this.#size >= MOST) {
      this.#known.clear();
      this.#size = 0;
    }
    const ofProvider = this.#known.get(provider) ?? new Map<string, Known>();
    this.#known.set(provider, ofProvider);
    const known: Known = { form: undefined, vain: 0 };
    ofProvider.set(model, known);
    this.#size += 1;
    return known;
  }
}

/** What the groups of both patterns have found; undefined where the answer has another form. */
function groupsIn(bytes: Buffer, { before, behind, beginning }: Form): readonly (string | undefined)[] | undefined {
  const { length } = bytes;
  const scratch = scratchForText();
  if (scratch === null || length > SCRATCH_BYTES) return undefined;
  const start = before.exec(bytes.toString('latin1', 0, Math.min(beginning, length)));
  if (start === null) return undefined;
  bytes.copy(scratch.bytes);
  const text = stringAt(scratch, start[0].length, length, length);
  const rest = text && behind.exec(bytes.toString('latin1', text.end));
  return rest == null ? undefined : [...start, ...rest];
}

function usageIn(groups: readonly (string | undefined)[], places: readonly number[]): Usage {
  const count = (index: number): number => countOf(groups[places[index] ?? 0] ?? '') ?? 0;
  return {
    promptTokens: count(0),
    completionTokens: count(1),
    totalTokens: count(2),
    cachedTokens: count(3),
    reasoningTokens: count(4),
  };
}

/** The form of an answer that has one text. */
function formOf(text: string): Form | undefined {
  const names: string[] = [];
  /** Counts that stand before the text. */
  let first = 0;
  const sources = [''];
  let name = '';
  const add = (source: string): void => {
    sources[sources.length - 1] += source;
  };
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const isString = token.startsWith('"');
    if (isString && KEY_END.test(text.slice(index + token.length, index + token.length + 16))) {
      name = token.slice(1, -1);
      add(literal(token));
    } else if (!isString && !/^-?\d/.test(token)) {
      // Values of a list have no name.
      if (/[[\]{}]/.test(token)) name = '';
      add(literal(token));
    } else {
      if (isString && name === TEXT) {
        first = names.length;
        sources.push('');
      } else add(patternFor(name, token, isString, names));
      name = '';
    }
  }
  const [before = '', behind, ...more] = sources;
  if (behind === undefined || more.length > 0 || before.length + behind.length > LONGEST_PATTERN) return undefined;
  // In front of the groups of each pattern stands all that it has found.
  const places = READ.map((each) => names.indexOf(each)).map((at) => (at === -1 ? 0 : at + (at < first ? 1 : 2)));
  if (places.includes(0) || new Set(names).size < names.length) return undefined;
  return {
    before: new RegExp(`^${before}"`),
    behind: new RegExp(`^"${behind}$`),
    beginning: before.length + MORE_BEFORE,
    places,
  };
}

/** A pattern for what may stand in place of a value, which notes the name of a count that is read. */
function patternFor(name: string, token: string, isString: boolean, names: string[]): string {
  if (isString === (name !== 'created')) return VARYING.get(name) ?? literal(token);
  if (isString) return literal(token);
  if ((READ as readonly string[]).includes(name)) {
    names.push(name);
    return `(${COUNT})`;
  }
  return name.endsWith('_tokens') && !RARE.includes(name) ? COUNT : literal(token);
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
