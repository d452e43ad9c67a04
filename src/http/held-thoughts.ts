import type { ReasoningPart } from '../core/chat.ts';
import type { Chunk } from '../core/chunk.ts';
import { AnswerSize } from '../core/collect.ts';

type Thought = Extract<Chunk, { type: 'reasoning' }>;

/**
 * Thoughts of an answer for a client that sees none. Some models refuse the results of their calls without the thoughts that led to these
 * (Anthropic's, DeepSeek, Kimi), so a call takes along those before it.
 */
export class HeldThoughts {
  readonly #size: AnswerSize;
  #blocks: ReasoningPart[] = [];
  #text = '';

  /** @param mostBytes of all thoughts of the answer; `add` throws beyond that */
  constructor(mostBytes: number) {
    this.#size = new AnswerSize(mostBytes);
  }

  add(chunk: Thought): void {
    this.#size.add([chunk]);
    const { reasoning, vendor } = chunk;
    this.#text += reasoning;
    if (vendor === undefined) return;
    this.#blocks.push({ type: 'reasoning', text: this.#text, vendor });
    this.#text = '';
  }

  /** Those that no call has taken yet, block by block. */
  take(): readonly ReasoningPart[] {
    const blocks: readonly ReasoningPart[] =
      this.#text === '' ? this.#blocks : [...this.#blocks, { type: 'reasoning', text: this.#text }];
    this.#blocks = [];
    this.#text = '';
    return blocks;
  }
}
