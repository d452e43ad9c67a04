import type { Usage } from '../core/chunk.ts';
import { SluiceError } from '../core/errors.ts';
import { decodeUsage, encodeUsage } from '../core/usage.ts';
import { EventReader } from '../providers/openai/events.ts';
import { failureInAnswer } from '../providers/openai/failure.ts';

const BEGIN = 'data: {';
const DONE = 'data: [DONE]\n\n';

/**
 * Anything in a run of events that needs a closer look: other framing than one `data: {` line per event, the end, an error,
 * a usage, a field that clients must not see as it is. In JSON text a quote inside a string is escaped, so these patterns
 * cannot match what a model wrote; `[DONE]` can, and then the closer look finds nothing.
 */
const UNUSUAL =
  /\r|\n(?!\n|data: \{|$)|"finish_reason":\s*"|"usage":\s*\{|"error":\s*[{"]|"reasoning_content":\s*"|"choices":\s*\[\s*\]|"(?:tool_calls|audio|reasoning)":\s*null|\[DONE\]/;

type Json = Record<string, unknown>;

/** What the relay says of itself in each chunk, and what the client asked for. */
export interface RewriteOptions {
  readonly provider: string;
  /** The client asked for usage in a chunk of its own (`stream_options.include_usage`). */
  readonly wantsUsage: boolean;
  /** Size of the request, for an estimate where the upstream counts nothing. */
  readonly promptBytes: number;
  readonly sseLineBytes: number;
}

/**
 * A stream in the wire format of OpenAI's chat completions, made fit for our clients: `provider` is added to every chunk,
 * usage goes where the client expects it, errors are thrown, `[DONE]` is always there. Runs of ordinary events are not
 * decoded. Bytes travel as Latin-1 strings, one character a byte, so that UTF-8 stays what it is however it was split.
 */
export class StreamRewriter {
  readonly #options: RewriteOptions;
  readonly #stamp: string;
  #carry = '';
  #reader: EventReader | undefined;
  #held: { event: Json; data: string } | undefined;
  #visible = false;
  #done = false;
  #finish: string | undefined;
  #usage: Usage | undefined;
  #characters = 0;

  constructor(options: RewriteOptions) {
    this.#options = options;
    this.#stamp = latin1(`"provider":${JSON.stringify(options.provider)},`);
  }

  /** Whether a client has something to see: content, reasoning, a tool call, media. */
  get visible(): boolean {
    return this.#visible;
  }

  /** Whether the upstream said that nothing follows. */
  get done(): boolean {
    return this.#done;
  }

  get finish(): string | undefined {
    return this.#finish;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** What to write for these bytes: Latin-1, whole events. Throws the upstream's error, if it sends one. */
  push(bytes: Buffer): string {
    if (this.#done) return '';
    if (this.#reader !== undefined) return this.#each(this.#reader.push(bytes));
    const text = this.#carry + bytes.toString('latin1');
    const end = text.lastIndexOf('\n\n');
    if (end === -1) {
      if (text.includes('\r') || !couldBegin(text)) return this.#readCarefully(text);
      this.#keep(text);
      return '';
    }
    const events = text.slice(0, end + 2);
    this.#keep(text.slice(end + 2));
    if (this.#visible && this.#held === undefined && events.startsWith(BEGIN) && !UNUSUAL.test(events)) {
      this.#characters += events.length;
      return this.#stampAll(events);
    }
    return this.#closer(events);
  }

  /** What is left to write at the end. Throws when the upstream stopped in the middle. */
  end(): string {
    let out = '';
    if (!this.#done) {
      const rest = this.#carry;
      this.#carry = '';
      if (this.#reader === undefined && rest !== '') this.#reader = new EventReader(this.#options.sseLineBytes);
      if (this.#reader !== undefined) {
        out += this.#each(this.#reader.push(Buffer.from(rest, 'latin1')));
        out += this.#each(this.#reader.end());
      }
    }
    if (this.#finish === undefined && !this.#done) {
      throw new SluiceError('upstream_cut', 'The provider ended its answer in the middle.');
    }
    return out + this.#closing();
  }

  #keep(text: string): void {
    if (text.length > this.#options.sseLineBytes) {
      throw new SluiceError(
        'upstream_invalid',
        `The provider sent an event of more than ${this.#options.sseLineBytes} bytes.`,
      );
    }
    this.#carry = text;
  }

  /** Hands the stream to a complete parser, for good. */
  #readCarefully(text: string): string {
    this.#carry = '';
    this.#reader = new EventReader(this.#options.sseLineBytes);
    return this.#each(this.#reader.push(Buffer.from(text, 'latin1')));
  }

  #closer(events: string): string {
    let out = '';
    for (let start = 0; start < events.length; ) {
      const end = events.indexOf('\n\n', start);
      const event = events.slice(start, end);
      if (!event.startsWith('data: ') || event.includes('\n') || event.includes('\r')) {
        return out + this.#readCarefully(events.slice(start) + this.#carry);
      }
      out += this.#event(Buffer.from(event.slice(6), 'latin1').toString());
      start = end + 2;
    }
    return out;
  }

  #each(events: readonly string[]): string {
    let out = '';
    for (const data of events) out += this.#event(data);
    return out;
  }

  /** One event, decoded. */
  #event(data: string): string {
    if (this.#done) return '';
    if (data === '[DONE]') {
      this.#done = true;
      return '';
    }
    let json: unknown;
    try {
      json = JSON.parse(data);
    } catch {
      return ''; // no JSON, no chunk: clients would stumble over it
    }
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return '';
    const failure = failureInAnswer(json);
    if (failure !== undefined) throw failure;
    this.#characters += data.length;
    const event = json as Json;
    const usage = decodeUsage(event['usage']);
    if (usage !== undefined) this.#usage = usage;
    const choices = Array.isArray(event['choices']) ? event['choices'] : [];
    if (choices.length === 0) {
      if (usage === undefined || !this.#options.wantsUsage) return '';
      return this.#release() + this.#stampOne(data);
    }
    let changed = false;
    let finishes = false;
    for (const choice of choices as Json[]) {
      const delta = choice['delta'];
      if (typeof delta === 'object' && delta !== null) {
        changed = mend(delta as Json) || changed;
        this.#visible ||= isVisibleDelta(delta as Json);
      }
      if (typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '') {
        finishes = true;
        this.#finish = choice['finish_reason'];
      }
    }
    const out = this.#release();
    const text = changed ? JSON.stringify(event) : data;
    if (!finishes) return out + this.#stampOne(text);
    this.#held = { event, data: text };
    return out;
  }

  /** The event that was held back because it might have been the last. */
  #release(): string {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined ? '' : this.#stampOne(held.data);
  }

  #closing(): string {
    this.#done = true;
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return DONE;
    if (this.#options.wantsUsage && this.#usage !== undefined) return this.#stampOne(held.data) + DONE;
    for (const choice of held.event['choices'] as Json[]) {
      const delta = choice['delta'];
      if (typeof delta === 'object' && delta !== null) (delta as Json)['content'] ??= '';
    }
    const usage = this.#usage ?? this.#estimate();
    return this.#stampOne(JSON.stringify({ ...held.event, usage: encodeUsage(usage) })) + DONE;
  }

  /** The upstream counted nothing: four bytes of a prompt are about one token, and so is a chunk of 200 bytes. */
  #estimate(): Usage {
    const promptTokens = Math.ceil(this.#options.promptBytes / 4);
    const completionTokens = Math.ceil(this.#characters / 200);
    return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, estimated: true };
  }

  #stampOne(data: string): string {
    const start = data.indexOf('{') + 1;
    return `${BEGIN}${this.#stamp}${latin1(data.slice(start))}\n\n`;
  }

  #stampAll(events: string): string {
    const stamped = `${BEGIN}${this.#stamp}`;
    return stamped + events.slice(BEGIN.length).replaceAll(`\n${BEGIN}`, `\n${stamped}`);
  }
}

/** Whether text without an event's end can still become `data: …`. */
function couldBegin(text: string): boolean {
  return text.startsWith('data: ') || 'data: '.startsWith(text);
}

/** Makes a delta what clients expect. Returns whether it changed. */
function mend(delta: Json): boolean {
  let changed = false;
  for (const name of ['tool_calls', 'audio', 'reasoning']) {
    if (delta[name] === null) {
      delete delta[name];
      changed = true;
    }
  }
  if (typeof delta['reasoning_content'] === 'string' && delta['reasoning'] === undefined) {
    delta['reasoning'] = delta['reasoning_content'];
    changed = true;
  }
  return changed;
}

function isVisibleDelta(delta: Json): boolean {
  for (const name of ['content', 'reasoning', 'refusal'])
    if (typeof delta[name] === 'string' && delta[name] !== '') return true;
  return ['tool_calls', 'function_call', 'audio', 'images'].some(
    (name) => delta[name] !== undefined && delta[name] !== null,
  );
}

/** UTF-16 → one character per UTF-8 byte. Plain ASCII, which most data is, stays the same string. */
function latin1(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is the range of ASCII
  return /^[\u0000-\u007f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}
