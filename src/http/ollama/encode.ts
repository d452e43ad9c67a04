import { AnswerEnd } from '../../core/answer-end.ts';
import { toolInput } from '../../core/call-pieces.ts';
import type { Part, ToolCall } from '../../core/chat.ts';
import type { Batch, Chunk, MediaRef } from '../../core/chunk.ts';
import type { Collected } from '../../core/collect.ts';
import { heldAsBase64 } from '../../core/data-uri.ts';
import { unreachable } from '../../core/errors.ts';
import { JoinedThoughts } from '../../core/joined-thoughts.ts';
import { withLineFeedsOnly } from '../../core/line-ends.ts';
import type { Encoder } from '../../core/stream.ts';
import { sealVendor } from '../../core/vendor.ts';
import { mediaInWords } from '../../media/link.ts';
import { toolCallId } from '../../providers/openai/ids.ts';

type Json = Record<string, unknown>;

/** The two ways to ask: their answers differ in where the text stands. */
export type Kind = 'chat' | 'generate';

/** What an answer has to be told that its chunks do not say. */
export interface AnswerOptions {
  readonly kind: Kind;
  /** As the client named it, who compares. */
  readonly model: string;
  /** Whether the client wants to see thoughts. */
  readonly showsThoughts: boolean;
  /** When the question came, and when the answer began, as `performance.now()` tells. */
  readonly startedAt: number;
  readonly begunAt: number;
}

/** What is said at once. */
interface Said {
  content: string;
  thinking: string;
  readonly images: string[];
}

/** Chunks → lines of JSON. Calls are whole in this API, so they come with the end. */
export class LineStream implements Encoder {
  readonly contentType = 'application/x-ndjson';
  readonly #options: AnswerOptions;
  readonly #last = new AnswerEnd();
  readonly #shown = new JoinedThoughts();
  #thought = '';
  /** Blocks of thoughts that nobody signed. They matter only when a later one is signed. */
  #unsigned: Json[] = [];

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  encode(batch: Batch): string {
    let out = '';
    let said = nothing();
    for (const chunk of batch) {
      const rest = this.#one(chunk, said);
      if (rest === undefined) continue;
      out += this.#said(said) + rest;
      said = nothing();
    }
    return out + this.#said(said);
  }

  end(): string {
    return '';
  }

  /** Notes what a chunk says. Returns whole lines where it is more than a piece of text; what was said before goes first. */
  #one(chunk: Chunk, said: Said): string | undefined {
    switch (chunk.type) {
      case 'content':
        said.content += chunk.content;
        if (chunk.content !== '' && this.#thought !== '') {
          this.#unsigned.push(thinkingBlock({ type: 'reasoning', text: this.#thought }));
          this.#thought = '';
        }
        return undefined;
      case 'refusal':
        said.content += chunk.refusal;
        return undefined;
      case 'reasoning':
        if (this.#options.showsThoughts) {
          said.thinking += this.#shown.add(chunk.reasoning, chunk.vendor !== undefined);
        }
        this.#thought += chunk.reasoning;
        if (chunk.vendor === undefined) return undefined;
        return this.#endThought({ type: 'reasoning', text: '', vendor: chunk.vendor });
      case 'media':
        addMedia(said, chunk.media);
        return undefined;
      case 'tool_call':
      case 'source':
      case 'usage':
      case 'conversation':
        this.#last.add(chunk);
        return undefined;
      case 'finish':
        return this.#finish(chunk.finish);
      case 'error':
      case 'auth': {
        const { name, message, code } = chunk.type === 'error' ? chunk.error : chunk.auth;
        return line({ error: `${name}: ${message}`, code });
      }
      case 'provider':
      case 'parameters':
      case 'search':
      case 'item':
      case 'preview':
      case 'suggestions':
      case 'title':
      case 'log':
        return undefined;
      default:
        return unreachable(chunk);
    }
  }

  #said(said: Said): string {
    const { content, thinking, images } = said;
    if (content === '' && thinking === '' && images.length === 0) return '';
    return this.#line(said, {});
  }

  /** A signed block of thoughts is over: whole, for clients that hand it back. */
  #endThought(part: Extract<Part, { type: 'reasoning' }>): string {
    const blocks = [...this.#unsigned, thinkingBlock({ ...part, text: this.#thought })];
    this.#unsigned = [];
    this.#thought = '';
    return this.#options.kind === 'generate' ? '' : this.#line(nothing(), { thinking_blocks: blocks });
  }

  #finish(finish: string): string {
    const calls = this.#last.calls.whole();
    const called =
      calls.length === 0 || this.#options.kind === 'generate'
        ? ''
        : this.#line(nothing(), { tool_calls: calls.map(toolCall) });
    const { kind } = this.#options;
    const last = tail(finish, this.#last, this.#options);
    return called + line({ ...head(this.#options), ...body(kind, nothing(), {}), ...last });
  }

  #line(said: Said, more: Json): string {
    return line({ ...head(this.#options), ...body(this.#options.kind, said, more), done: false });
  }
}

/** A whole answer as one object. */
export function encodeAnswer(answer: Collected, options: AnswerOptions): Json {
  const said = nothing();
  said.content = answer.content + answer.refusal;
  if (options.showsThoughts) said.thinking = answer.reasoning;
  for (const media of answer.media) addMedia(said, media);
  const thoughts = answer.parts.flatMap((part) => (part.type === 'reasoning' ? [part] : []));
  const blocks = thoughts.some(({ vendor }) => vendor !== undefined) ? thoughts.map(thinkingBlock) : [];
  const more: Json = {
    ...(blocks.length === 0 ? {} : { thinking_blocks: blocks }),
    ...(answer.toolCalls.length === 0 ? {} : { tool_calls: answer.toolCalls.map(toolCall) }),
  };
  return {
    ...head(options),
    ...body(options.kind, said, more),
    ...tail(answer.finish ?? 'stop', answer, options),
  };
}

/** The answer to a request that asks nothing: clients send it to have a model loaded, or with `keep_alive: 0` unloaded. */
export function encodeLoaded(options: Omit<AnswerOptions, 'begunAt'>, unload: boolean): Json {
  return {
    ...head(options),
    ...body(options.kind, nothing(), {}),
    done: true,
    done_reason: unload ? 'unload' : 'load',
  };
}

function nothing(): Said {
  return { content: '', thinking: '', images: [] };
}

function head({ model }: Pick<AnswerOptions, 'model'>): Json {
  return { model, created_at: new Date().toISOString() };
}

function body(kind: Kind, { content, thinking, images }: Said, more: Json): Json {
  const thoughts = thinking === '' ? {} : { thinking };
  const pictures = images.length === 0 ? {} : { images };
  if (kind === 'chat') return { message: { role: 'assistant', content, ...thoughts, ...pictures, ...more } };
  // Where it generates, Ollama makes one picture. Only several have no place but that of chats.
  return { response: content, ...thoughts, ...(images.length === 1 ? { image: images[0] } : pictures) };
}

/** What comes with the end: why, and how long it took, in nanoseconds. */
function tail(
  finish: string,
  { usage, sources, conversation }: Pick<Collected, 'usage' | 'sources' | 'conversation'>,
  { startedAt, begunAt }: AnswerOptions,
): Json {
  const now = performance.now();
  return {
    done: true,
    done_reason: finish === 'tool_calls' ? 'stop' : finish,
    total_duration: nanoseconds(now - startedAt),
    load_duration: 0,
    prompt_eval_count: usage?.promptTokens ?? 0,
    prompt_eval_duration: nanoseconds(begunAt - startedAt),
    eval_count: usage?.completionTokens ?? 0,
    eval_duration: nanoseconds(now - begunAt),
    ...(sources.length === 0 ? {} : { sources: sources.map(({ url, title = '' }) => ({ url, title })) }),
    ...(conversation === undefined ? {} : { conversation }),
  };
}

function nanoseconds(milliseconds: number): number {
  // Clients divide by it.
  return Math.max(1, Math.round(milliseconds * 1_000_000));
}

function thinkingBlock({ text, vendor }: Extract<Part, { type: 'reasoning' }>): Json {
  return { type: 'thinking', thinking: text, ...(vendor === undefined ? {} : { signature: sealVendor(vendor) }) };
}

function toolCall({ id, name, arguments: written, vendor }: ToolCall, index: number): Json {
  return {
    id: id === '' ? toolCallId() : id,
    function: { index, name, arguments: toolInput(written) },
    ...(vendor === undefined ? {} : { signature: sealVendor(vendor) }),
  };
}

/** Inline pictures have a place in the format. */
function addMedia(said: Said, media: MediaRef): void {
  const picture = media.kind === 'image' ? heldAsBase64(media.url) : undefined;
  if (picture === undefined) said.content += mediaInWords(media);
  else said.images.push(picture);
}

/** Ollama's own library for Python reads lines with `splitlines`. */
function line(value: Json): string {
  return `${withLineFeedsOnly(JSON.stringify(value))}\n`;
}
