import type { VendorData } from '../../core/chat.ts';
import type { Batch, Chunk, Source, ToolCallDelta, Usage } from '../../core/chunk.ts';
import { type ErrorInfo, statusOf, unreachable } from '../../core/errors.ts';
import { isObject, membersOf } from '../../core/objects.ts';
import type { Encoder } from '../../core/stream.ts';
import { sealVendor, UNSIGNED, vendorText } from '../../core/vendor.ts';
import { mediaInWords } from '../../media/link.ts';
import { randomName } from '../../providers/openai/ids.ts';
import { CallsInTurn } from './calls-in-turn.ts';
import { errorType } from './errors.ts';
import { citation, encodeUsage, stopReason } from './words.ts';

type Json = Record<string, unknown>;

/** What is known of an answer before it begins. */
export interface MessageHead {
  readonly id: string;
  readonly model: string;
  /** Who answers: no field of Anthropic's, but the contract's, as in every other answer. */
  readonly provider: string;
  /** Tokens of the prompt, as far as they can be guessed: most upstreams count at the end only. */
  readonly promptTokens: number;
}

/** The head of a new answer, with a random id. */
export function messageHead(provider: string, model: string, promptTokens: number): MessageHead {
  return { id: `msg_${randomName(24)}`, model, provider, promptTokens };
}

/** One event of the stream; `type` is also its name. */
export interface MessageEvent {
  readonly type: string;
  readonly index?: number;
  readonly [field: string]: unknown;
}

/** Chunks → events of the Messages API (https://platform.claude.com/docs/en/build-with-claude/streaming). */
export class MessageStream implements Encoder {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly heartbeat = format({ type: 'ping' });
  readonly #head: MessageHead;
  /** What an upstream of Anthropic's said of the message. */
  #message: Json = {};
  #begun = false;
  #index = -1;
  #open: 'text' | 'thinking' | 'tool_use' | undefined;
  readonly #inTurn = new CallsInTurn();
  /** Their ids; the last one's block may be open. */
  readonly #calls = new Map<number, string>();
  readonly #sealed = new Set<number>();
  #refused = false;
  /** Sources that came where no text was: they belong to the next one. */
  #sources: Source[] = [];
  #usage: Usage | undefined;

  constructor(head: MessageHead) {
    this.#head = head;
  }

  encode(batch: Batch): string {
    return this.events(batch).map(format).join('');
  }

  end(): string {
    return '';
  }

  /** The events of one batch. */
  events(batch: Batch): readonly MessageEvent[] {
    const out: MessageEvent[] = [];
    const chunks = this.#inTurn.order(batch);
    const vendors = vendorsOf(chunks);
    for (const chunk of chunks) this.#one(chunk, vendors, out);
    return out;
  }

  #one(chunk: Chunk, vendors: CallVendors, out: MessageEvent[]): void {
    switch (chunk.type) {
      case 'content':
        this.#text(chunk.content, chunk.vendor, out);
        break;
      case 'reasoning':
        this.#thought(chunk.reasoning, chunk.vendor, out);
        break;
      case 'refusal':
        this.#refused = true;
        this.#text(chunk.refusal, undefined, out);
        break;
      case 'source':
        if (this.#open === 'text') out.push(this.#delta({ type: 'citations_delta', citation: citation(chunk.source) }));
        else this.#sources.push(chunk.source);
        break;
      case 'tool_call':
        this.#call(chunk.tool_call, vendors, out);
        break;
      case 'media':
        // The API has no media in answers, so they are shown as clients show text.
        this.#text(mediaInWords(chunk.media), undefined, out);
        break;
      case 'usage':
        this.#usage = chunk.usage;
        break;
      case 'finish':
        this.#finish(chunk.finish, chunk.stopSequence, out);
        break;
      case 'error':
        out.push(failure(chunk.error));
        break;
      case 'auth':
        out.push(failure(chunk.auth));
        break;
      case 'provider':
      case 'parameters':
      case 'conversation':
      case 'search':
      case 'item':
      case 'preview':
      case 'suggestions':
      case 'title':
      case 'log':
        break;
      default:
        unreachable(chunk);
    }
  }

  /** A piece of text; with `vendor`, the last one of its block. */
  #text(text: string, vendor: VendorData | undefined, out: MessageEvent[]): void {
    const own = vendor?.['anthropic'];
    if (isObject(own?.['message'])) {
      this.#message = { ...this.#message, ...own['message'] };
      return;
    }
    if (isObject(own?.['block'])) {
      this.#start(own['block'] as Json, out);
      out.push({ type: 'content_block_stop', index: this.#index });
      return;
    }
    if (text !== '') {
      this.#openText(out);
      out.push(this.#delta({ type: 'text_delta', text }));
      this.#cite(out);
    }
    if (vendor === undefined || this.#open !== 'text') return;
    const fields = own?.['fields'];
    const citations = isObject(fields) && Array.isArray(fields['citations']) ? fields['citations'] : [];
    for (const each of citations) out.push(this.#delta({ type: 'citations_delta', citation: each }));
    this.#close(out);
  }

  #openText(out: MessageEvent[]): void {
    if (this.#open === 'text') return;
    this.#start({ type: 'text', text: '' }, out);
    this.#open = 'text';
  }

  #cite(out: MessageEvent[]): void {
    for (const source of this.#sources.splice(0)) {
      out.push(this.#delta({ type: 'citations_delta', citation: citation(source) }));
    }
  }

  /** A piece of thoughts; with `vendor`, the last one of its block. What another vendor attached takes the signature's place. */
  #thought(text: string, vendor: VendorData | undefined, out: MessageEvent[]): void {
    const data = vendorText(vendor, 'anthropic', 'redactedData');
    if (text !== '' || (vendor !== undefined && data === undefined)) {
      if (this.#open !== 'thinking') {
        this.#start({ type: 'thinking', thinking: '', signature: '' }, out);
        this.#open = 'thinking';
      }
      if (text !== '') out.push(this.#delta({ type: 'thinking_delta', thinking: text }));
    }
    if (vendor === undefined) return;
    if (data !== undefined) {
      this.#start({ type: 'redacted_thinking', data }, out);
      out.push({ type: 'content_block_stop', index: this.#index });
      return;
    }
    const signature = 'anthropic' in vendor ? (vendorText(vendor, 'anthropic', 'signature') ?? '') : sealVendor(vendor);
    this.#close(out, signature);
  }

  #call(delta: ToolCallDelta, vendors: CallVendors, out: MessageEvent[]): void {
    const id = this.#calls.get(delta.index);
    if (id === undefined) {
      this.#startCall(delta, vendors, out);
      return;
    }
    if (delta.arguments !== '' && this.#open === 'tool_use') out.push(this.#arguments(delta.arguments));
    if (delta.vendor !== undefined) this.#seal(delta.index, id, delta.vendor, out);
  }

  #startCall(delta: ToolCallDelta, vendors: CallVendors, out: MessageEvent[]): void {
    const { index, id = `toolu_${randomName(24)}`, name = '', arguments: json } = delta;
    const vendor = vendors?.get(index);
    this.#seal(index, id, vendor, out);
    const fields = vendor?.['anthropic']?.['fields'];
    this.#start({ type: 'tool_use', id, name, input: {}, ...membersOf(fields) }, out);
    this.#open = 'tool_use';
    this.#calls.set(index, id);
    if (json !== '') out.push(this.#arguments(json));
  }

  /** What another vendor attached to a call, in a block that clients hand back unread: a call has no place for it. */
  #seal(index: number, id: string, vendor: VendorData | undefined, out: MessageEvent[]): void {
    if (vendor === undefined || this.#sealed.has(index)) return;
    const { anthropic: _, ...others } = vendor;
    if (Object.keys(others).length === 0) return;
    this.#sealed.add(index);
    this.#start({ type: 'redacted_thinking', data: sealVendor({ sluice: { calls: { [id]: others } } }) }, out);
    out.push({ type: 'content_block_stop', index: this.#index });
  }

  #finish(finish: string, stopSequence: string | undefined, out: MessageEvent[]): void {
    if (this.#sources.length > 0) {
      this.#openText(out);
      this.#cite(out);
    }
    this.#close(out);
    this.#begin(out);
    const {
      stop_reason,
      stop_sequence = stopSequence,
      usage,
      content: _c,
      id: _i,
      model: _m,
      provider: _p,
      ...further
    } = this.#message;
    const { stop_details: details, container, ...others } = further;
    const reason =
      typeof stop_reason === 'string'
        ? stop_reason
        : this.#refused
          ? 'refusal'
          : stopReason(finish, stop_sequence, this.#calls.size > 0);
    out.push({
      type: 'message_delta',
      delta: {
        stop_reason: reason,
        stop_sequence: typeof stop_sequence === 'string' ? stop_sequence : null,
        ...(details == null ? {} : { stop_details: details }),
        ...(container == null ? {} : { container }),
      },
      usage: { ...membersOf(usage), ...encodeUsage(this.#usage) },
      ...('context_management' in others ? { context_management: others['context_management'] } : {}),
    });
    out.push({ type: 'message_stop' });
  }

  /** Opens a block, and closes the one before. */
  #start(block: Json, out: MessageEvent[]): void {
    this.#close(out);
    this.#begin(out);
    this.#index += 1;
    out.push({ type: 'content_block_start', index: this.#index, content_block: block });
  }

  #begin(out: MessageEvent[]): void {
    if (this.#begun) return;
    this.#begun = true;
    const { id, model, provider, promptTokens } = this.#head;
    const { usage, ...message } = this.#message;
    out.push({
      type: 'message_start',
      message: {
        id,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        ...message,
        provider,
        usage: isObject(usage)
          ? usage
          : {
              input_tokens: promptTokens,
              cache_creation_input_tokens: 0,
              cache_read_input_tokens: 0,
              output_tokens: 0,
            },
      },
    });
    out.push({ type: 'ping' });
  }

  /** Thoughts end with a signature, as Anthropic's do, if need be an empty one: the AI SDK hands back none without. */
  #close(out: MessageEvent[], signature = UNSIGNED): void {
    if (this.#open === undefined) return;
    if (this.#open === 'thinking') out.push(this.#delta({ type: 'signature_delta', signature }));
    this.#open = undefined;
    out.push({ type: 'content_block_stop', index: this.#index });
  }

  #delta(delta: Json): MessageEvent {
    return { type: 'content_block_delta', index: this.#index, delta };
  }

  #arguments(json: string): MessageEvent {
    return this.#delta({ type: 'input_json_delta', partial_json: json });
  }
}

/** What vendors attached to calls, by the place of each; undefined, as nearly always, where there is none. */
type CallVendors = ReadonlyMap<number, VendorData> | undefined;

function vendorsOf(batch: Batch): CallVendors {
  let found: Map<number, VendorData> | undefined;
  for (const chunk of batch) {
    if (chunk.type !== 'tool_call' || chunk.tool_call.vendor === undefined) continue;
    const { index, vendor } = chunk.tool_call;
    found ??= new Map();
    if (!found.has(index)) found.set(index, vendor);
  }
  return found;
}

/** A failure inside a stream. */
function failure({ code, name, message }: ErrorInfo): MessageEvent {
  return { type: 'error', error: { type: errorType(statusOf(code)), message: `${name}: ${message}`, code } };
}

function format(event: MessageEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
