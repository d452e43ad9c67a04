import { answeredAs } from '../../core/answered-as.ts';
import type { Batch, Chunk, Source, Usage } from '../../core/chunk.ts';
import { dataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import { isObject, parseJson, parseObject } from '../../core/objects.ts';
import { decodeUsage } from '../../core/usage.ts';
import { AlikeEvents, PROBE } from './alike.ts';
import { EventReader } from './events.ts';
import { failureInAnswer } from './failure.ts';
import { citedSources, foundSources } from './sources.ts';
import { ToolCalls } from './tool-calls.ts';
import { Unreadable } from './unreadable.ts';

/** Characters of the sound of one answer, which is kept until its end: hours of it, in base64. */
const MOST_AUDIO = 64 * 1024 * 1024;

/** What is read of a chunk or a completion; everything else is left alone, and nothing is believed to be there. */
interface WireChoice {
  readonly index?: number;
  readonly delta?: WireMessage;
  readonly message?: WireMessage;
  readonly finish_reason?: string | null;
}

interface WireMessage {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_content?: unknown;
  readonly tool_calls?: unknown;
  /** What came before `tool_calls`; some servers still send it. */
  readonly function_call?: unknown;
  readonly annotations?: unknown;
  readonly images?: unknown;
  readonly audio?: unknown;
}

/**
 * One answer in the wire format of OpenAI's chat completions → chunks: each event's data for a stream, or the whole
 * body. Only the first choice is read.
 */
export class ChatDecoder {
  #finish: string | undefined;
  #usage: Usage | undefined;
  #tier: string | undefined;
  #id: unknown;
  #model: unknown;
  /** Told anew with every event, or with the last one. */
  #found: readonly Source[] = [];
  #done = false;
  readonly #calls = new ToolCalls();
  /** A call in the form that came before `tool_calls`; there is one at most. */
  readonly #olderCall = new ToolCalls();
  readonly #alike = new AlikeEvents();
  readonly #unreadable = new Unreadable();
  #audio: { data: string; transcript: string } | undefined;

  /** Whether the upstream said that nothing follows. */
  get done(): boolean {
    return this.#done;
  }

  /** Whether nothing is missing of the answer, even if the upstream says no more. */
  get complete(): boolean {
    return this.#done || this.#finish !== undefined;
  }

  /** Chunks of one event. Data that is no JSON is passed over, as browsers do with unknown lines, unless there is much of it. */
  event(data: string, into: Chunk[]): void {
    if (data.length < 16 && !this.#done) {
      const word = data.trim();
      this.#done = word === '[DONE]';
      // A sign of life, if nothing at all.
      if (word === '') return;
    }
    if (this.#done) return;
    const text = this.#alike.textOf(data);
    if (text !== undefined) {
      if (text !== '') into.push({ type: 'content', content: text });
      return;
    }
    const json = parseJson(data);
    if (json === undefined) {
      const failure = this.#unreadable.add();
      if (failure !== undefined) throw failure;
      return;
    }
    this.#unreadable.makeUp();
    const before = into.length;
    this.json(json, into);
    const said = into.length === before + 1 ? into[before] : undefined;
    if (said?.type === 'content') this.#alike.learn(data, JSON.stringify(said.content), saysOnlyProbe);
  }

  /** Whether what was read so far is this text, with nothing that shows later. */
  saysOnly(text: string, chunks: readonly Chunk[]): boolean {
    const [only] = chunks;
    if (chunks.length !== 1 || only?.type !== 'content' || only.content !== text) return false;
    return !this.complete && this.#usage === undefined && this.#audio === undefined && !this.#hasCalls;
  }

  /** Chunks of a parsed event or of a whole completion. */
  json(json: unknown, into: Chunk[]): void {
    if (typeof json !== 'object' || json === null) return;
    const failure = failureInAnswer(json);
    if (failure !== undefined) throw failure;
    const { id, model, choices, usage, service_tier: tier } = json as Readonly<Record<string, unknown>>;
    // Some say nothing with the first events, or the last.
    this.#id ||= id;
    this.#model ||= model;
    if (typeof tier === 'string' && tier !== '') this.#tier = tier;
    if (usage !== undefined && usage !== null) this.#usage = decodeUsage(usage) ?? this.#usage;
    this.#found = foundSources(json) ?? this.#found;
    if (!Array.isArray(choices)) return;
    for (const choice of choices as (WireChoice | null)[]) {
      if (typeof choice !== 'object' || choice === null || (choice.index ?? 0) !== 0) continue;
      const message = choice.delta ?? choice.message;
      if (typeof message === 'object' && message !== null) this.#message(message, into);
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.#finish = choice.finish_reason;
    }
  }

  /** What closes the answer. Throws when the upstream stopped in the middle of a stream. */
  end(into: Chunk[], form: 'stream' | 'whole' = 'stream'): void {
    if (form === 'stream' && (!this.complete || this.#isCut)) {
      throw new SluiceError('upstream_cut', 'The provider ended its answer in the middle.');
    }
    if (this.#audio !== undefined) {
      into.push({
        type: 'media',
        media: {
          kind: 'audio',
          url: dataUri('audio/wav', this.#audio.data),
          mimeType: 'audio/wav',
          ...(this.#audio.transcript === '' ? {} : { transcript: this.#audio.transcript }),
        },
      });
    }
    for (const source of this.#found) into.push({ type: 'source', source });
    if (this.#usage !== undefined) into.push({ type: 'usage', usage: this.#usage });
    const served = this.#tier === undefined ? {} : { serviceTier: this.#tier };
    into.push({ type: 'finish', finish: this.#reason(), ...served, ...answeredAs(this.#id, this.#model) });
  }

  /** Whether `[DONE]` alone ends the answer, and that in the middle of a call. */
  get #isCut(): boolean {
    return this.#finish === undefined && (this.#calls.isCut || this.#olderCall.isCut);
  }

  get #hasCalls(): boolean {
    return this.#calls.any || this.#olderCall.any;
  }

  /** Calls are told in their present form, whatever theirs was. */
  #reason(): string {
    if (this.#finish === 'function_call' && this.#hasCalls) return 'tool_calls';
    return this.#finish ?? (this.#hasCalls ? 'tool_calls' : 'stop');
  }

  #message(message: WireMessage, into: Chunk[]): void {
    // Two names for one thing: DeepSeek's and vLLM's, OpenRouter's and Groq's. Some send both.
    for (const reasoning of [message.reasoning_content, message.reasoning]) {
      if (typeof reasoning !== 'string' || reasoning === '') continue;
      into.push({ type: 'reasoning', reasoning });
      break;
    }
    if (typeof message.content === 'string') {
      if (message.content !== '') into.push({ type: 'content', content: message.content });
    } else if (Array.isArray(message.content)) {
      contentParts(message.content, into);
    }
    if (typeof message.refusal === 'string' && message.refusal !== '') {
      into.push({ type: 'refusal', refusal: message.refusal });
    }
    // Before the calls: Anthropic's format has sources beside their text, which a call ends.
    if (Array.isArray(message.annotations)) {
      for (const source of citedSources(message.annotations)) into.push({ type: 'source', source });
    }
    if (Array.isArray(message.tool_calls)) {
      for (const piece of this.#calls.read(message.tool_calls)) into.push({ type: 'tool_call', tool_call: piece });
    }
    if (isObject(message.function_call)) this.#older(message.function_call, into);
    if (Array.isArray(message.images)) images(message.images, into);
    if (message.audio !== undefined && message.audio !== null) this.#hear(message.audio);
  }

  #older(call: Record<string, unknown>, into: Chunk[]): void {
    // Servers that know both forms tell the same call in both.
    if (this.#calls.any || !(this.#olderCall.any || (typeof call['name'] === 'string' && call['name'] !== ''))) return;
    for (const piece of this.#olderCall.read([{ index: 0, function: call }]))
      into.push({ type: 'tool_call', tool_call: piece });
  }

  #hear(audio: unknown): void {
    if (typeof audio !== 'object' || audio === null) return;
    const { data, transcript } = audio as { data?: unknown; transcript?: unknown };
    this.#audio ??= { data: '', transcript: '' };
    if (typeof data === 'string') this.#audio.data += data;
    if (typeof transcript === 'string') this.#audio.transcript += transcript;
    if (this.#audio.data.length + this.#audio.transcript.length > MOST_AUDIO)
      throw new SluiceError('upstream_invalid', 'The provider sent more sound than Sluice takes in.');
  }
}

function saysOnlyProbe(event: string): boolean {
  const decoder = new ChatDecoder();
  const chunks: Chunk[] = [];
  try {
    decoder.json(JSON.parse(event), chunks);
  } catch {
    return false;
  }
  return decoder.saysOnly(PROBE, chunks);
}

/** Content as parts: Mistral's reasoning models think in a part of its own. */
export function contentParts(parts: readonly unknown[], into: Chunk[]): void {
  for (const part of parts) {
    if (typeof part !== 'object' || part === null) continue;
    const { type, text, thinking } = part as { type?: unknown; text?: unknown; thinking?: unknown };
    if (type === 'thinking' && Array.isArray(thinking)) {
      for (const piece of thinking) {
        const reasoning = (piece as { text?: unknown } | null)?.text;
        if (typeof reasoning === 'string' && reasoning !== '') into.push({ type: 'reasoning', reasoning });
      }
    } else if (typeof text === 'string' && text !== '') {
      into.push({ type: 'content', content: text });
    }
  }
}

/** Images that models make amid a chat, in the form OpenRouter gave them. */
function images(parts: readonly unknown[], into: Chunk[]): void {
  for (const [index, part] of parts.entries()) {
    const url = (part as { image_url?: { url?: unknown } } | null)?.image_url?.url;
    if (typeof url !== 'string') continue;
    const number = parts.length === 1 ? {} : { number: index + 1 };
    into.push({ type: 'media', media: { kind: 'image', url, ...number } });
  }
}

/** A streamed answer: bytes → chunks. What came before a failure is in `into` when it is thrown. */
export class StreamDecoder {
  readonly #reader: EventReader;
  readonly #decoder = new ChatDecoder();

  /** @param limit bytes that one event may have */
  constructor(limit: number) {
    this.#reader = new EventReader(limit);
  }

  /** Whether the upstream said that nothing follows. */
  get done(): boolean {
    return this.#decoder.done;
  }

  /** Whether nothing is missing of the answer, even if the upstream says no more. */
  get complete(): boolean {
    return this.#decoder.complete;
  }

  push(bytes: Buffer, into: Chunk[]): void {
    for (const data of this.#reader.push(bytes)) this.#decoder.event(data, into);
  }

  /** What closes the answer. Throws when the upstream stopped in the middle of it. */
  end(into: Chunk[]): void {
    for (const data of this.#reader.end()) this.#decoder.event(data, into);
    this.#decoder.end(into);
  }
}

/** A whole completion in one piece of JSON. */
export function decodeCompletion(body: Buffer): Batch {
  const json = parseAnswer(body);
  const decoder = new ChatDecoder();
  const batch: Chunk[] = [];
  decoder.json(json, batch);
  if (!Array.isArray(json['choices']) || json['choices'].length === 0) throw notACompletion();
  decoder.end(batch, 'whole');
  return batch;
}

const BYTE_ORDER_MARK = 0xfeff;

/** The JSON object that an answer is. Throws when it is none. */
export function parseAnswer(body: Buffer): Record<string, unknown> {
  const text = body.toString('utf8');
  const json = parseObject(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  if (json === undefined) throw notACompletion();
  return json;
}

/** 502. Nothing of what came is shown: it might be anything. */
export function notACompletion(): SluiceError {
  return new SluiceError('upstream_invalid', 'The provider answered with something that is not a chat completion.');
}
