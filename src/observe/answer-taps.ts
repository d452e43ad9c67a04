import type { Batch } from '../core/chunk.ts';
import { decodeCompletion, StreamDecoder } from '../providers/openai/decode.ts';
import type { AnswerContent, AnswerTap } from './observation.ts';

/** Characters of an answer that are gathered, and bytes on the wire that are looked at for them. */
const LONGEST = 64 * 1024;
const LONGEST_WIRE = 2 * 1024 * 1024;

/** Gathers what chunks say. */
export class ChunkTap implements AnswerTap {
  #text = '';
  #reasoning = '';
  readonly #calls = new Map<number, { name: string; arguments: string }>();
  #left = LONGEST;
  #hasSaid = false;

  take(batch: Batch): void {
    for (const chunk of batch) {
      switch (chunk.type) {
        case 'content':
          this.#text += this.#fitting(chunk.content);
          break;
        case 'refusal':
          this.#text += this.#fitting(chunk.refusal);
          break;
        case 'reasoning':
          this.#reasoning += this.#fitting(chunk.reasoning);
          break;
        case 'tool_call': {
          const { index, name, arguments: fragment } = chunk.tool_call;
          const call = this.#calls.get(index) ?? { name: '', arguments: '' };
          if (name !== undefined) call.name = this.#fitting(name);
          call.arguments += this.#fitting(fragment);
          if (this.#left > 0) this.#calls.set(index, call);
          break;
        }
      }
    }
  }

  read(): AnswerContent | undefined {
    if (!this.#hasSaid) return undefined;
    const calls = [...this.#calls].sort(([one], [other]) => one - other).map(([, call]) => call);
    return { text: this.#text, reasoning: this.#reasoning, tool_calls: calls, truncated: this.#left <= 0 };
  }

  #fitting(text: string): string {
    if (text === '') return '';
    this.#hasSaid = true;
    const fitting = text.length > this.#left ? text.slice(0, this.#left) : text;
    this.#left -= text.length;
    return fitting;
  }
}

/** Keeps the beginning of what is relayed in the wire format of OpenAI, and decodes it when it is over. */
export class WireTap implements AnswerTap {
  #pieces: Buffer[] = [];
  #left = LONGEST_WIRE;
  readonly #isStream: boolean;

  constructor(isStream: boolean) {
    this.#isStream = isStream;
  }

  take(bytes: Buffer): void {
    if (this.#left <= 0) return;
    this.#pieces.push(bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes);
    this.#left -= bytes.length;
  }

  read(): AnswerContent | undefined {
    const tap = new ChunkTap();
    const bytes = Buffer.concat(this.#pieces);
    try {
      if (this.#isStream) {
        const batch: Batch[number][] = [];
        try {
          new StreamDecoder(LONGEST_WIRE).push(bytes, batch);
        } finally {
          tap.take(batch);
        }
      } else tap.take(decodeCompletion(bytes));
    } catch {
      // It broke off, or was no answer of this format: what could be read counts.
    }
    const read = tap.read();
    return read === undefined || this.#left > 0 ? read : { ...read, truncated: true };
  }
}
