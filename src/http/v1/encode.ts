import type { Conversation, VendorData } from '../../core/chat.ts';
import type { Batch, Chunk, FinishReason, MediaRef, Source, ToolCallDelta, Usage } from '../../core/chunk.ts';
import type { Collected } from '../../core/collect.ts';
import { heldAsBase64 } from '../../core/data-uri.ts';
import { type SluiceError, typeOf, unreachable } from '../../core/errors.ts';
import { jsonIn } from '../../core/fenced-block.ts';
import { JoinedThoughts } from '../../core/joined-thoughts.ts';
import type { Encoder } from '../../core/stream.ts';
import { encodeUsage, sumUsages } from '../../core/usage.ts';
import { sealVendor, vendorText } from '../../core/vendor.ts';
import { mediaLink } from '../../media/link.ts';
import { completionId, randomName, toolCallId } from '../../providers/openai/ids.ts';
import { wholeCall } from '../chat-tools.ts';
import { errorBody } from '../edge/errors.ts';
import { FreeformInput } from '../freeform.ts';

/** What all chunks of one answer have in common. */
export interface CompletionHead {
  readonly id: string;
  /** Seconds. */
  readonly created: number;
  readonly model: string;
  readonly provider: string;
  /** Calls are told as `function_call`, of which an answer has one, to clients that asked in that form. */
  readonly hasOlderCalls: boolean;
  /** The tools whose calls are told as freeform ones. */
  readonly freeform: ReadonlySet<string>;
}

/** The head of an answer that begins now, with a random id. */
export function completionHead(
  provider: string,
  model: string,
  { hasOlderCalls = false, freeform = new Set() }: Partial<Pick<CompletionHead, 'hasOlderCalls' | 'freeform'>> = {},
): CompletionHead {
  return { id: completionId(), created: Math.floor(Date.now() / 1000), model, provider, hasOlderCalls, freeform };
}

/** Chunks → `chat.completion.chunk` events. `index` is the choice they belong to, when a request asked for several. */
export class CompletionStream implements Encoder {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #head: CompletionHead;
  readonly #wantsUsage: boolean;
  readonly #before: string;
  readonly #after = '},"finish_reason":null}]}\n\n';
  readonly #named = new Set<number>();
  /** Of freeform calls, by their places. */
  readonly #inputs = new Map<number, FreeformInput>();
  readonly #shown = new JoinedThoughts();
  #thought = '';
  #thoughts = 0;
  #usage: Usage | undefined;
  #conversation: Conversation | undefined;

  constructor(head: CompletionHead, options: { readonly wantsUsage: boolean; readonly index?: number }) {
    this.#head = head;
    this.#wantsUsage = options.wantsUsage;
    const { id, created, model, provider } = head;
    const fields = JSON.stringify({ id, object: 'chat.completion.chunk', created, model, provider });
    this.#before = `data: ${fields.slice(0, -1)},"choices":[{"index":${options.index ?? 0},"delta":{"role":"assistant",`;
  }

  encode(batch: Batch): string {
    let out = '';
    for (const chunk of batch) out += this.#one(chunk);
    return out;
  }

  end(): string {
    return 'data: [DONE]\n\n';
  }

  #one(chunk: Chunk): string {
    switch (chunk.type) {
      case 'content':
        if (chunk.content === '' && chunk.vendor !== undefined) return '';
        return this.#delta(`"content":${JSON.stringify(chunk.content)}`);
      case 'reasoning': {
        const details = this.#thoughtDetail(chunk.reasoning, chunk.vendor);
        const shown = this.#shown.add(chunk.reasoning, chunk.vendor !== undefined);
        const text = JSON.stringify(shown);
        // As in a whole answer: some clients write an empty one down as `""`.
        const named = shown === '' ? '' : `,"reasoning":${text},"reasoning_content":${text}`;
        return this.#delta(`"content":""${named}${details}`);
      }
      case 'refusal':
        return this.#delta(`"content":"","refusal":${JSON.stringify(chunk.refusal)}`);
      case 'source':
        return this.#delta(`"content":"","annotations":[${JSON.stringify(citation(chunk.source))}]`);
      case 'tool_call':
        if (this.#head.hasOlderCalls) return this.#olderCall(chunk.tool_call);
        return this.#toolCall(chunk.tool_call);
      case 'media':
        return this.#delta(JSON.stringify(mediaFields(chunk.media)).slice(1, -1));
      case 'usage':
        this.#usage = chunk.usage;
        return '';
      case 'conversation':
        this.#conversation = { ...this.#conversation, ...chunk.conversation };
        return '';
      case 'finish':
        return this.#endInputs() + this.#finish(chunk.finish);
      case 'error':
      case 'auth': {
        const { name, message, code } = chunk.type === 'error' ? chunk.error : chunk.auth;
        const error = { message: `${name}: ${message}`, type: typeOf(code), code, param: null };
        const { model, provider } = this.#head;
        return `data: ${JSON.stringify({ error, model, provider })}\n\n`;
      }
      case 'provider':
      case 'parameters':
      case 'search':
      case 'item':
      case 'preview':
      case 'suggestions':
      case 'title':
      case 'log':
        return '';
      default:
        return unreachable(chunk);
    }
  }

  /**
   * A piece of a block of thoughts, for clients that hand it back; with `vendor` the block's last one, which has its signature. As
   * OpenRouter has it: its clients read these pieces instead of `reasoning`, where there are some. Libraries that keep the last piece
   * only (OpenAI's for JavaScript) have the whole block in it, as `thinking`.
   */
  #thoughtDetail(text: string, vendor: VendorData | undefined): string {
    const index = this.#thoughts;
    const before = this.#thought;
    if (vendor === undefined) {
      this.#thought += text;
      return text === ''
        ? ''
        : `,"reasoning_details":[{"type":"reasoning.text","text":${JSON.stringify(text)},"format":"unknown","index":${index}}]`;
    }
    this.#thoughts += 1;
    this.#thought = '';
    const last = thoughtDetail(text, vendor, index);
    const whole = before === '' || last['text'] === undefined ? {} : { thinking: before + text };
    return `,"reasoning_details":[${JSON.stringify({ ...last, ...whole })}]`;
  }

  #delta(members: string): string {
    return this.#before + members + this.#after;
  }

  /** Usage comes in the last chunk, or, when the client asked for it as OpenAI has it, in one of its own. */
  #finish(reason: string): string {
    const usage = this.#usage === undefined ? {} : { usage: encodeUsage(this.#usage) };
    const tail = {
      ...(this.#wantsUsage ? {} : usage),
      ...(this.#conversation === undefined ? {} : { conversation: this.#conversation }),
    };
    const more = JSON.stringify(tail).slice(1, -1);
    const last = `${this.#before}"content":""},"finish_reason":${JSON.stringify(finishOf(reason, this.#head))}}]${more === '' ? '' : `,${more}`}}\n\n`;
    if (!this.#wantsUsage || this.#usage === undefined) return last;
    return `${last}data: ${JSON.stringify({ ...headFields(this.#head, 'chat.completion.chunk'), choices: [], ...usage })}\n\n`;
  }

  /** The first call; '' for all others, which have no place in this form. */
  #olderCall({ index, name, arguments: written }: ToolCallDelta): string {
    const isFirst = this.#named.size === 0;
    if (isFirst) this.#named.add(index);
    else if (!this.#named.has(index)) return '';
    const call = { ...(isFirst ? { name: name ?? '' } : {}), arguments: written };
    return this.#delta(`"content":"","function_call":${JSON.stringify(call)}`);
  }

  #toolCall({ index, id: given, name, arguments: written, vendor }: ToolCallDelta): string {
    const isFirst = !this.#named.has(index);
    this.#named.add(index);
    const id = given ?? (isFirst ? toolCallId() : undefined);
    const named = name === undefined ? {} : { name };
    if (isFirst && name !== undefined && this.#head.freeform.has(name)) this.#inputs.set(index, new FreeformInput());
    const input = this.#inputs.get(index);
    if (input === undefined) {
      const typed = id === undefined ? {} : { id, type: 'function' };
      return this.#call({ index, ...typed, function: { ...named, arguments: written }, ...callSignature(vendor) });
    }
    const text = input.add(written);
    if (text === '' && !isFirst && vendor === undefined) return '';
    const typed = id === undefined ? {} : { id, type: 'custom' };
    return this.#call({ index, ...typed, custom: { ...named, input: text }, ...callSignature(vendor) });
  }

  /** What of freeform calls was held back. */
  #endInputs(): string {
    let out = '';
    for (const [index, input] of this.#inputs) {
      const text = input.end();
      if (text !== '') out += this.#call({ index, custom: { input: text } });
    }
    this.#inputs.clear();
    return out;
  }

  #call(piece: Record<string, unknown>): string {
    return this.#delta(`"content":"","tool_calls":[${JSON.stringify(piece)}]`);
  }
}

/** A failure inside a relayed stream, which then ends in good order. */
export function encodeStreamError(error: SluiceError): string {
  return `data: ${JSON.stringify(errorBody(error))}\n\ndata: [DONE]\n\n`;
}

/**
 * A whole answer as a `chat.completion`. Several answers become several choices.
 *
 * @param isJson whether their texts shall be JSON and nothing else
 */
export function encodeCompletion(
  head: CompletionHead,
  answers: readonly Collected[],
  isJson = false,
): Record<string, unknown> {
  const conversation = answers.find((answer) => answer.conversation !== undefined)?.conversation;
  return {
    ...headFields(head, 'chat.completion'),
    choices: answers.map((answer, index) => ({
      index,
      message: encodeAnswer(isJson ? { ...answer, content: jsonIn(answer.content) } : answer, head),
      logprobs: null,
      finish_reason: finishOf(answer.finish ?? 'stop', head),
    })),
    usage: encodeUsage(sumUsages(answers.flatMap((answer) => (answer.usage === undefined ? [] : [answer.usage])))),
    ...(conversation === undefined ? {} : { conversation }),
  };
}

function finishOf(reason: FinishReason, { hasOlderCalls }: CompletionHead): FinishReason {
  return hasOlderCalls && reason === 'tool_calls' ? 'function_call' : reason;
}

function encodeAnswer(answer: Collected, { hasOlderCalls, freeform }: CompletionHead): Record<string, unknown> {
  const message: Record<string, unknown> = {
    role: 'assistant',
    content: answer.content,
    refusal: answer.refusal || null,
  };
  if (answer.reasoning !== '') {
    message['reasoning'] = answer.reasoning;
    message['reasoning_content'] = answer.reasoning;
  }
  const details = answer.parts.flatMap((part) =>
    part.type === 'reasoning' && part.vendor !== undefined ? [part] : [],
  );
  if (details.length > 0) {
    message['reasoning_details'] = details.map(({ text, vendor }, index) => thoughtDetail(text, vendor ?? {}, index));
  }
  if (answer.sources.length > 0) message['annotations'] = answer.sources.map(citation);
  const [first] = answer.toolCalls;
  if (hasOlderCalls && first !== undefined) {
    message['function_call'] = { name: first.name, arguments: first.arguments };
  } else if (first !== undefined) {
    message['tool_calls'] = answer.toolCalls.map((call) => ({
      ...wholeCall(call, freeform),
      ...callSignature(call.vendor),
    }));
  }
  for (const media of answer.media) {
    const { content, images = [], ...rest } = mediaFields(media);
    message['content'] += String(content);
    if (Array.isArray(images) && images.length > 0)
      message['images'] = [...((message['images'] as unknown[]) ?? []), ...images];
    Object.assign(message, rest);
  }
  return message;
}

/** A signed block of thoughts, or its last piece, in the form OpenRouter gave it. Signatures of vendors without a place of their own are sealed. */
function thoughtDetail(text: string, vendor: VendorData, index: number): Record<string, unknown> {
  const signature = vendorText(vendor, 'anthropic', 'signature');
  const redacted = vendorText(vendor, 'anthropic', 'redactedData');
  if (redacted !== undefined) {
    return { type: 'reasoning.encrypted', data: redacted, format: 'anthropic-claude-v1', index };
  }
  if (signature !== undefined) return { type: 'reasoning.text', text, signature, format: 'anthropic-claude-v1', index };
  return { type: 'reasoning.text', text, signature: sealVendor(vendor), format: 'unknown', index };
}

/** Gemini's signature of a call, as its compatible interface spells it. */
function callSignature(vendor: VendorData | undefined): Record<string, unknown> {
  const signed = vendorText(vendor, 'google', 'thoughtSignature');
  return signed === undefined ? {} : { extra_content: { google: { thought_signature: signed } } };
}

function citation({ url, title, text, start, end }: Source): Record<string, unknown> {
  return {
    type: 'url_citation',
    url_citation: { url, title: title ?? '', content: text, start_index: start ?? 0, end_index: end ?? 0 },
  };
}

/**
 * Media in an answer: addresses as markdown, so that every client shows them; inline images in the form OpenRouter gave them,
 * and inline sounds in OpenAI's, also those that are kept.
 */
function mediaFields(media: MediaRef): Record<string, unknown> {
  const data = heldAsBase64(media.url);
  const sound = media.kind === 'audio' ? (data ?? media.inline) : undefined;
  if (sound !== undefined) {
    return {
      content: data === undefined ? mediaLink(media) : '',
      audio: { id: `audio_${randomName(24)}`, data: sound, transcript: media.transcript ?? '', expires_at: 0 },
    };
  }
  if (media.kind === 'image') {
    const images = [{ type: 'image_url', image_url: { url: media.url } }];
    return { content: data === undefined ? mediaLink(media) : '', images };
  }
  return { content: data === undefined ? mediaLink(media) : '' };
}

function headFields(head: CompletionHead, object: string): Record<string, unknown> {
  const { id, created, model, provider } = head;
  return { id, object, created, model, provider };
}
