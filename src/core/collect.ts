import { AnswerEnd } from './answer-end.ts';
import type { Conversation, Part, ToolCall, VendorData } from './chat.ts';
import type { Batch, Chunk, FinishReason, MediaRef, Source, Usage } from './chunk.ts';
import { SluiceError, unreachable } from './errors.ts';
import { JoinedThoughts } from './joined-thoughts.ts';

/** A whole answer: the fold of its chunks. */
export interface Collected {
  readonly content: string;
  readonly reasoning: string;
  /** Texts and thoughts in the order in which they came, each block as a whole: what `content` and `reasoning` are made of. */
  readonly parts: readonly Part[];
  readonly refusal: string;
  readonly sources: readonly Source[];
  readonly toolCalls: readonly ToolCall[];
  readonly media: readonly MediaRef[];
  readonly conversation: Conversation | undefined;
  readonly usage: Usage | undefined;
  readonly finish: FinishReason | undefined;
  readonly stopSequence: string | undefined;
}

/** The same chunks, of an answer that is held in memory as a whole: throws once it is larger than `limit`, in about bytes. */
export async function* within(chunks: AsyncIterable<Batch>, limit: number): AsyncGenerator<Batch, void> {
  const size = new AnswerSize(limit);
  for await (const batch of chunks) {
    size.add(batch);
    yield batch;
  }
}

/** How large an answer is that is held in memory as a whole, in about bytes. */
export class AnswerSize {
  readonly #limit: number;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Throws once there is more than the limit. */
  add(batch: Batch): void {
    for (const chunk of batch) this.#size += sizeOf(chunk);
    if (this.#size <= this.#limit) return;
    throw new SluiceError('upstream_invalid', "The provider's answer is larger than Sluice takes in.");
  }
}

/** Text, of which most chunks are, counts without what surrounds it. */
function sizeOf(chunk: Chunk): number {
  if (chunk.type === 'content' && chunk.vendor === undefined) return chunk.content.length;
  if (chunk.type === 'reasoning' && chunk.vendor === undefined) return chunk.reasoning.length;
  return JSON.stringify(chunk).length;
}

/** Folds chunks into the whole answer. Throws what the chunks throw. */
export async function collect(chunks: AsyncIterable<Batch>): Promise<Collected> {
  const parts = new Parts();
  const last = new AnswerEnd();
  let refusal = '';
  let finish: FinishReason | undefined;
  let stopSequence: string | undefined;
  const media: MediaRef[] = [];
  for await (const batch of chunks) {
    for (const chunk of batch) {
      switch (chunk.type) {
        case 'content':
          parts.add('text', chunk.content, chunk.vendor);
          break;
        case 'reasoning':
          parts.add('reasoning', chunk.reasoning, chunk.vendor);
          break;
        case 'refusal':
          refusal += chunk.refusal;
          break;
        case 'tool_call':
        case 'source':
        case 'usage':
        case 'conversation':
          last.add(chunk);
          break;
        case 'media':
          media.push(chunk.media);
          break;
        case 'finish':
          finish = chunk.finish;
          stopSequence = chunk.stopSequence;
          break;
        case 'provider':
        case 'parameters':
        case 'search':
        case 'item':
        case 'preview':
        case 'suggestions':
        case 'title':
        case 'log':
        case 'auth':
        case 'error':
          break;
        default:
          unreachable(chunk);
      }
    }
  }
  const { content, reasoning } = parts;
  const whole = parts.whole();
  return {
    content,
    reasoning,
    parts: whole,
    refusal,
    sources: last.sources,
    toolCalls: last.calls.whole(),
    media,
    conversation: last.conversation,
    usage: last.usage,
    finish,
    stopSequence,
  };
}

/** Puts pieces of text and thoughts together, block by block. */
class Parts {
  content = '';
  reasoning = '';
  readonly #thoughts = new JoinedThoughts();
  readonly #parts: Part[] = [];
  #open: { type: 'text' | 'reasoning'; text: string } | undefined;

  /** With `vendor`, the piece is the last one of its block. */
  add(type: 'text' | 'reasoning', text: string, vendor: VendorData | undefined): void {
    if (type === 'text') this.content += text;
    else this.reasoning += this.#thoughts.add(text, vendor !== undefined);
    if (text === '' && vendor === undefined) return;
    if (this.#open?.type !== type) this.#close();
    this.#open ??= { type, text: '' };
    this.#open.text += text;
    if (vendor !== undefined) this.#close(vendor);
  }

  whole(): readonly Part[] {
    this.#close();
    return this.#parts;
  }

  #close(vendor?: VendorData): void {
    if (this.#open !== undefined) this.#parts.push({ ...this.#open, ...(vendor === undefined ? {} : { vendor }) });
    this.#open = undefined;
  }
}
