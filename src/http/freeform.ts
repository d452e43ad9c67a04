import { isWholeJson } from '../core/call-pieces.ts';
import type { Tool } from '../core/chat.ts';
import { isObject, parseObject, wordsOf } from '../core/objects.ts';

type Json = Record<string, unknown>;

/*
 * Freeform tools (`type: custom`, https://platform.openai.com/docs/guides/function-calling#custom-tools) are called with a
 * text. Models get a function with one member for it, since that is what all of them know.
 */

/**
 * The function that stands for a freeform tool. Of a grammar it is told; nobody holds the model to it. Chats have the grammar a
 * level deeper than the Responses API.
 */
export function asFunction(name: string, { description, format }: Json): Tool {
  const words = typeof description === 'string' && description !== '' ? [description] : [];
  if (isGrammar(format)) {
    const { syntax, definition } = isObject(format['grammar']) ? format['grammar'] : format;
    words.push(`The input has to follow this grammar (${wordsOf(syntax)}):\n${wordsOf(definition)}`);
  }
  return {
    name,
    ...(words.length === 0 ? {} : { description: words.join('\n\n') }),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole input of the tool, as it is' } },
      required: ['input'],
      additionalProperties: false,
    },
  };
}

/** Whether the `format` of a freeform tool is more than any text. */
export function isGrammar(format: unknown): format is Json {
  return isObject(format) && format['type'] === 'grammar';
}

/** How the arguments begin that a model writes for such a function. */
const OPENING = /^\s*\{\s*"input"\s*:\s*"/;
/** More units than that come before the text only where something else is written. */
const LONGEST_OPENING = 200;

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The text within such arguments, which are there as a whole. */
export function freeformText(written: string): string {
  const input = new FreeformInput();
  return input.add(written) + input.end();
}

/** Pieces of such arguments → pieces of the text within. What is no such thing is the text itself, at the end. */
export class FreeformInput {
  #state: 'before' | 'within' | 'over' = 'before';
  /** What has come and is not read yet. */
  #rest = '';

  /** Whether no more of the text follows. */
  get isOver(): boolean {
    return this.#state === 'over' || (this.#state === 'before' && isWholeJson(this.#rest));
  }

  /** The text that a further piece brings. */
  add(fragment: string): string {
    if (this.#state === 'over') return '';
    this.#rest += fragment;
    if (this.#state === 'before') {
      const opening = OPENING.exec(this.#rest.slice(0, LONGEST_OPENING))?.[0];
      if (opening === undefined) return '';
      this.#state = 'within';
      this.#rest = this.#rest.slice(opening.length);
    }
    return this.#read();
  }

  /** What of the text was held back. */
  end(): string {
    const rest = this.#rest;
    const isRead = this.#state !== 'before';
    this.#state = 'over';
    this.#rest = '';
    if (isRead) return unescaped(rest.replace(/\\(?:u[0-9a-f]{0,3})?$/i, ''));
    const { input } = parseObject(rest) ?? {};
    return typeof input === 'string' ? input : rest;
  }

  /** Takes whole characters: an escape, or the two halves of one, may come in pieces. */
  #read(): string {
    const written = this.#rest;
    let [last, end] = [0, 0];
    while (end < written.length && written[end] !== '"') {
      const length = written[end] !== '\\' ? 1 : written[end + 1] === 'u' ? 6 : 2;
      if (end + length > written.length) break;
      [last, end] = [end, end + length];
    }
    const text = unescaped(written.slice(0, end));
    if (written[end] === '"') {
      this.#state = 'over';
      this.#rest = '';
      return text;
    }
    const isHalf = /[\uD800-\uDBFF]$/.test(text);
    this.#rest = written.slice(isHalf ? last : end);
    return isHalf ? text.slice(0, -1) : text;
  }
}

/** The inside of a JSON string. Models also write line breaks and backslashes that JSON does not allow there. */
function unescaped(written: string): string {
  return written.replace(
    /\\(?:u([0-9a-f]{4})|(.))/gisu,
    (whole, hex: string | undefined, letter: string | undefined) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (letter === '"' || letter === '\\' || letter === '/') return letter;
      return ESCAPES[letter ?? ''] ?? whole;
    },
  );
}
