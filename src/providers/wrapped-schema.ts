import type { Call } from '../core/call.ts';
import type { ChatRequest, WireFormat } from '../core/chat.ts';
import type { Batch, Chunk } from '../core/chunk.ts';
import { isObject } from '../core/objects.ts';
import { PassedOn } from '../core/passed-on.ts';
import type { Provider } from '../core/provider.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The member of the object around an answer that shall be none. */
const MEMBER = 'value';
const BEGINNING = `{"${MEMBER}":`;
/** Thoughts that stand before it, as some models write them: Perplexity's with a form of the answer, too. */
const THINK = '<think>';
const THOUGHT = '</think>';
/** The line of Markdown before a block of JSON. */
const FENCE = /^```(?:json|JSON)?/;
/** Characters of an answer in which it begins, whatever spaces the model writes. */
const LONGEST_BEGINNING = 256;

/**
 * The same provider, for clients who ask for a list or a plain value: Google and Ollama take any schema, most upstreams only one of
 * an object. So they are asked for an object with that value, and the client gets what is inside. `isOwn`: formats whose requests
 * say what is meant for this very upstream.
 */
export function withObjectSchemas(provider: Provider, isOwn: (format: WireFormat) => boolean): Provider {
  const { chat } = provider;
  if (chat === undefined) return provider;
  return Object.assign(provider, {
    chat(request: ChatRequest, call: Call): AsyncIterable<Batch> {
      const wrapped = isOwn(request.format ?? 'openai') ? undefined : wrap(request);
      return wrapped === undefined ? chat(request, call) : unwrap(chat(wrapped, call));
    },
  });
}

function wrap(request: ChatRequest): ChatRequest | undefined {
  const { responseFormat: format } = request;
  if (format?.type !== 'json_schema' || format.schema === undefined || !isWrapped(format.schema)) return undefined;
  return { ...request, responseFormat: { ...format, schema: around(format.schema) } };
}

/** Whether a schema is of something else than an object. */
function isWrapped({ type, properties, ...others }: Schema): boolean {
  if (type !== undefined) return type !== 'object';
  return properties === undefined && Object.keys(others).length > 0;
}

/** Definitions stay at the root, where some look for them only. */
function around(schema: Schema): Schema {
  const { $schema, $defs, definitions, ...inner } = moved(schema) as Schema;
  return {
    ...Object.fromEntries(Object.entries({ $schema, $defs, definitions }).filter(([, value]) => value !== undefined)),
    type: 'object',
    properties: { [MEMBER]: inner },
    required: [MEMBER],
    additionalProperties: false,
  };
}

/** A schema with references that find what has moved. */
function moved(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(moved);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) =>
      name === '$ref' && typeof value === 'string' && /^#(?:$|\/(?!\$defs\/|definitions\/))/.test(value)
        ? [name, `#/properties/${MEMBER}${value.slice(1)}`]
        : [name, moved(value)],
    ),
  );
}

/**
 * What stands inside of the object around it, as it comes, without the fence that some models write around that. An answer that does not
 * begin with that object stays as it is.
 */
export function unwrap(batches: AsyncIterable<Batch>): AsyncIterable<Batch> {
  return new Unwrapped(batches[Symbol.asyncIterator]());
}

class Unwrapped extends PassedOn {
  readonly #text = new WrappedText();

  next(): Promise<IteratorResult<Batch>> {
    return this.source.next().then(this.#take);
  }

  readonly #take = (result: IteratorResult<Batch>): IteratorResult<Batch> =>
    result.done === true ? result : { done: false, value: result.value.flatMap((chunk) => this.#chunks(chunk)) };

  #chunks(chunk: Chunk): readonly Chunk[] {
    if (chunk.type === 'finish' || chunk.type === 'tool_call') {
      const rest = this.#text.rest();
      return rest === '' ? [chunk] : [{ type: 'content', content: rest }, chunk];
    }
    if (chunk.type !== 'content') return [chunk];
    const content = this.#text.push(chunk.content);
    return content === '' && chunk.vendor === undefined ? [] : [{ ...chunk, content }];
  }
}

class WrappedText {
  #state: 'thinking' | 'before' | 'inside' | 'after' | 'elsewhere' = 'before';
  #held = '';
  /** The end of the thoughts so far, which may be the beginning of what ends them. */
  #lastThought = '';
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  push(text: string): string {
    switch (this.#state) {
      case 'thinking':
        return this.#think(text);
      case 'before':
        return this.#begin(this.#held + text);
      case 'inside':
        return this.#inside(text);
      case 'after':
        return '';
      case 'elsewhere':
        return text;
    }
  }

  /** What waited to become the beginning of the object, and did not. */
  rest(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  #begin(text: string): string {
    this.#held = '';
    const [beginning] = BEGINS.exec(text) ?? [];
    if (beginning !== undefined) {
      this.#state = 'inside';
      return this.#inside(text.slice(beginning.length));
    }
    const start = text.trimStart();
    if (start.startsWith(THINK)) {
      this.#state = 'thinking';
      return this.#think(text);
    }
    const couldBegin =
      THINK.startsWith(start) ||
      '```json'.startsWith(start.toLowerCase()) ||
      BEGINNING.startsWith(start.replace(FENCE, '').replace(/\s/g, ''));
    if (text.length <= LONGEST_BEGINNING && couldBegin) {
      this.#held = text;
      return '';
    }
    this.#state = 'elsewhere';
    return text;
  }

  /** Thoughts, and what begins behind them. */
  #think(text: string): string {
    const thoughts = this.#lastThought + text;
    const end = thoughts.indexOf(THOUGHT);
    this.#lastThought = thoughts.slice(1 - THOUGHT.length);
    if (end === -1) return text;
    this.#state = 'before';
    const length = end + THOUGHT.length - (thoughts.length - text.length);
    return text.slice(0, length) + this.#begin(text.slice(length));
  }

  /** Up to where the member ends. */
  #inside(text: string): string {
    for (let at = 0; at < text.length; at += 1) {
      const character = text.charAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isText) {
        if (character === '\\') this.#isEscaped = true;
        else if (character === '"') this.#isText = false;
      } else if (character === '"') this.#isText = true;
      else if (character === '{' || character === '[') this.#depth += 1;
      else if (this.#depth === 0 && /[\s,}]/.test(character)) {
        this.#state = 'after';
        return text.slice(0, at);
      } else if (character === '}' || character === ']') this.#depth -= 1;
    }
    return text;
  }
}

/** With the first character of what it holds in sight. */
const BEGINS = new RegExp(`^\\s*(?:${FENCE.source.slice(1)}\\s*)?\\{\\s*"${MEMBER}"\\s*:\\s*(?=\\S)`);
