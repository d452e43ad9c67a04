import type { Batch, Chunk } from '../core/chunk.ts';
import { PassedOn } from '../core/passed-on.ts';
import type { Step } from '../core/stream.ts';

const OPEN = '<think>';
const CLOSE = '</think>';

/** The step of `splitThinking`; requests stay as they are. */
export const thinkTags: Step = { name: 'think-tags', enrich: (request) => ({ request, chunks: splitThinking }) };

/**
 * Text between think tags at the beginning of an answer → reasoning chunks. Many open models think that way when their
 * server does not take it apart. Tags anywhere else are part of the answer.
 */
export function splitThinking(chunks: AsyncIterable<Batch>): AsyncIterable<Batch> {
  return new SplitThinking(chunks[Symbol.asyncIterator]());
}

/** Nearly all of an answer comes when nothing can change any more, and then passes as if nobody stood here. */
class SplitThinking extends PassedOn {
  readonly #splitter = new ThinkTags();
  #failure: { readonly error: unknown } | undefined;

  next(): Promise<IteratorResult<Batch>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    return this.#splitter.isOver ? this.source.next() : this.source.next().then(this.#take, this.#fail);
  }

  readonly #take = (result: IteratorResult<Batch>): IteratorResult<Batch> =>
    result.done === true ? result : { done: false, value: this.#splitter.push(result.value) };

  /** What was said before the failure still counts. */
  readonly #fail = (error: unknown): IteratorResult<Batch> => {
    this.#failure = { error };
    return { done: false, value: this.#splitter.rest() };
  };
}

class ThinkTags {
  #state: 'before' | 'inside' | 'between' | 'after' = 'before';
  /** Text that may be, or become, a tag. */
  #held = '';

  /** Whether nothing can change any more. */
  get isOver(): boolean {
    return this.#state === 'after';
  }

  push(batch: Batch): Batch {
    const out: Chunk[] = [];
    for (const chunk of batch) {
      if (chunk.type === 'content') {
        this.#text(chunk.content, out);
        if (chunk.vendor !== undefined) out.push({ type: 'content', content: '', vendor: chunk.vendor });
      } else {
        // Held text comes before whatever follows it: a tool call, the finish, reasoning in a field of its own.
        if (isPartOfAnswer(chunk)) this.#flush(out);
        out.push(chunk);
      }
    }
    return out;
  }

  /** Text that waited to become a tag, and will not. */
  rest(): Batch {
    const out: Chunk[] = [];
    this.#flush(out);
    return out;
  }

  #text(text: string, out: Chunk[]): void {
    const all = this.#held + text;
    this.#held = '';
    switch (this.#state) {
      case 'before': {
        const start = all.trimStart();
        if (start.startsWith(OPEN)) {
          this.#state = 'inside';
          this.#text(start.slice(OPEN.length), out);
        } else if (OPEN.startsWith(start)) {
          this.#held = all;
        } else {
          this.#state = 'after';
          say('content', all, out);
        }
        return;
      }
      case 'inside': {
        const end = all.indexOf(CLOSE);
        if (end === -1) {
          const partial = partialEnd(all);
          say('reasoning', all.slice(0, all.length - partial), out);
          this.#held = all.slice(all.length - partial);
        } else {
          say('reasoning', all.slice(0, end), out);
          this.#state = 'between';
          this.#text(all.slice(end + CLOSE.length), out);
        }
        return;
      }
      case 'between': {
        // The empty lines after the closing tag belong to the tag.
        const rest = all.trimStart();
        if (rest === '') return;
        this.#state = 'after';
        say('content', rest, out);
        return;
      }
      case 'after':
        say('content', all, out);
    }
  }

  #flush(out: Chunk[]): void {
    if (this.#held === '') return;
    say(this.#state === 'inside' ? 'reasoning' : 'content', this.#held, out);
    this.#held = '';
    this.#state = 'after';
  }
}

function say(type: 'content' | 'reasoning', text: string, out: Chunk[]): void {
  if (text === '') return;
  out.push(type === 'content' ? { type, content: text } : { type, reasoning: text });
}

/** How much of the end of a text may be the beginning of the closing tag. */
function partialEnd(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(CLOSE.slice(0, length))) return length;
  }
  return 0;
}

function isPartOfAnswer(chunk: Chunk): boolean {
  return ['tool_call', 'item', 'media', 'reasoning', 'usage', 'finish', 'error', 'auth'].includes(chunk.type);
}
