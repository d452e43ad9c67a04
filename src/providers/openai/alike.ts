/** A text without escapes, between its quotes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none of them in a text
const SIMPLE = /^"[^"\\\u0000-\u001f]*"$/;
/** Upstreams that change something else from event to event are not learned from for ever. */
const MOST_VAIN = 8;
/** A text that no answer has. */
export const PROBE = '\u0000probe';
/** The same as JSON writes it, quotes included. */
export const PROBE_IN_JSON = JSON.stringify(PROBE);

/**
 * Events of one answer that are alike save for their text, as most are: all but the text is compared and not parsed, which
 * takes a sixth of the time.
 */
export class AlikeEvents {
  #head = '';
  #tail = '';
  /** How often an event was learned since one was last recognized. */
  #vain = 0;

  /** The text of an event that is like the learned one; undefined: it has to be parsed. */
  textOf(data: string): string | undefined {
    const literal = this.#between(data);
    const text = literal === undefined ? undefined : unquoted(literal);
    if (text !== undefined) this.#vain = 0;
    return text;
  }

  /** The same text as it stands there, in JSON. */
  literalOf(data: string): string | undefined {
    return this.textOf(data) === undefined ? undefined : this.#between(data);
  }

  /**
   * Remembers an event that said `literal`, a text in JSON, in a member of that name. `saysOnly` tells whether an event with the probe
   * in the place of the text says that and nothing else: then it is this place that counts, and all around it says nothing.
   * @returns whether it was learned: it is not where the text is written otherwise, and when too much was learned in vain
   */
  learn(data: string, literal: string, saysOnly: (event: string) => boolean, member = 'content'): boolean {
    if (!this.isLearning) return false;
    const start = startOf(data, member);
    if (start === undefined || !data.startsWith(literal, start)) return false;
    this.#vain += 1;
    const [head, tail] = [data.slice(0, start), data.slice(start + literal.length)];
    if (!saysOnly(head + PROBE_IN_JSON + tail)) return false;
    this.#head = head;
    this.#tail = tail;
    return true;
  }

  /** Whether there is any use in learning: not where it was in vain too often. */
  get isLearning(): boolean {
    return this.#vain < MOST_VAIN;
  }

  /** What was learned does not hold any more. */
  forget(): void {
    this.#head = '';
  }

  /** What stands between all that is alike; undefined where something else differs. */
  #between(data: string): string | undefined {
    const head = this.#head;
    const end = data.length - this.#tail.length;
    // Comparing a slice is many times faster than startsWith.
    if (head === '' || end < head.length + 2 || data.slice(0, head.length) !== head) return undefined;
    return data.slice(end) === this.#tail ? data.slice(head.length, end) : undefined;
  }
}

/** Where the value of the first member of that name begins. */
function startOf(data: string, member: string): number | undefined {
  const name = `"${member}":`;
  const at = data.indexOf(name);
  if (at === -1) return undefined;
  const start = at + name.length;
  // Python's own encoder writes a space.
  return data[start] === ' ' ? start + 1 : start;
}

/** The text that a JSON literal stands for; undefined when it is something else. */
function unquoted(literal: string): string | undefined {
  if (SIMPLE.test(literal)) return literal.slice(1, -1);
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
