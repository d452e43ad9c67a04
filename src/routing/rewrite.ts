import type { AnsweredAs, Usage } from '../core/chunk.ts';
import { SluiceError, toSluiceError } from '../core/errors.ts';
import { parseObject } from '../core/objects.ts';
import { AlikeEvents, PROBE_IN_JSON } from '../providers/openai/alike.ts';
import { EventReader } from '../providers/openai/events.ts';
import { failureInAnswer } from '../providers/openai/failure.ts';
import { Unreadable } from '../providers/openai/unreadable.ts';
import { ChunkMender, type ChunkOptions, type Mended } from './chunk-mender.ts';
import { isVisibleMessage } from './mend.ts';

const DATA = 'data: ';
const DONE = `${DATA}[DONE]\n\n`;
const DELTA = '"delta":{';
/** In JSON text this cannot be inside of a string. */
const CONTENT = '"content":';
/** Bytes of an event that carries about one token, with all that surrounds it; four further ones are one more. */
const TOKEN_EVENT_BYTES = 320;

/**
 * Anything behind the beginning of an event that needs a closer look: an end, a usage, an error, fields that clients must
 * not see as they are. In JSON text a quote inside a string is escaped, so these patterns cannot match what a model wrote.
 */
const UNUSUAL =
  /\r|"(?:finish_reason"\s*:(?!\s*null)|usage"\s*:\s*\{|error"\s*:(?!\s*(?:null|false))|(?:reasoning(?:_content)?|refusal)"\s*:\s*"(?!")|(?:tool_calls|function_call|images|audio)"|reasoning"\s*:\s*null|content"\s*:\s*\[|provider")/;

/** The same for clients that did not ask for usage. */
const UNUSUAL_UNCOUNTED = new RegExp(`${UNUSUAL.source}|"usage"\\s*:\\s*null`);
/** Neither can these be inside of a string, but more than one may stand in an event: the others elsewhere in it, which are kept. */
const NO_USAGE = /"usage"\s*:\s*null/g;
const NO_USAGE_BEHIND = /,\s*"usage"\s*:\s*null/;

type Json = Record<string, unknown>;

/** What is known of a stream before it begins. `sseLineBytes`: the longest event, over which the stream fails. */
export interface RewriteOptions extends ChunkOptions {
  /** For an estimate where the upstream counts nothing. */
  readonly promptTokens: number;
  readonly sseLineBytes: number;
}

/**
 * A stream in the wire format of OpenAI's chat completions, made fit for our clients: see `ChunkMender` for what that is.
 * Events are decoded until one has been seen that needs nothing but the name of the provider; those that begin with the
 * very same bytes are then passed on without. Where all need more, those that differ in their text alone get what the one
 * before got around it. Bytes travel as Latin-1 strings, one character a byte, so that UTF-8 stays
 * what it is however it was split.
 */
export class StreamRewriter {
  readonly #options: RewriteOptions;
  readonly #mender: ChunkMender;
  readonly #unusual: RegExp;
  readonly #unreadable = new Unreadable();
  #carry = '';
  #reader: EventReader | undefined;
  /** How events begin that need no closer look, up to the inside of `delta`, and what clients get instead. */
  #known = '';
  #sent = '';
  /** Where their content usually is, behind that beginning. */
  #contentAt = 0;
  /** What stands behind it that clients do not get: a usage of null, as the upstream spells it. */
  #omitted = '';
  /** How long the event was of which the rest was found last. */
  #size = 0;
  /** Events that need the same for each text, and what clients get before and behind it. */
  readonly #alike = new AlikeEvents();
  #before = '';
  #behind = '';
  #done = false;
  #failure: SluiceError | undefined;
  #tokens = 0;

  constructor(options: RewriteOptions) {
    this.#options = options;
    this.#mender = new ChunkMender(options);
    this.#unusual = options.wantsUsage ? UNUSUAL : UNUSUAL_UNCOUNTED;
  }

  /** Whether a client has something to see: content, reasoning, a tool call, media. */
  get visible(): boolean {
    return this.#mender.visible;
  }

  /** Whether the upstream said that nothing follows. */
  get done(): boolean {
    return this.#done;
  }

  /** Whether nothing is missing that a client needs, even if the upstream says no more. */
  get complete(): boolean {
    return this.#done || this.#mender.complete;
  }

  /** What ended the stream, once it failed: the upstream's own error, or what it did wrong. Nothing is taken in after it. */
  get failure(): SluiceError | undefined {
    return this.#failure;
  }

  get finish(): string | undefined {
    return this.#mender.finish;
  }

  get answeredAs(): AnsweredAs | undefined {
    return this.#mender.answeredAs;
  }

  get usage(): Usage | undefined {
    return this.#mender.usage;
  }

  /** What to write for these bytes: Latin-1, whole events. See `failure` afterwards. */
  push(bytes: Buffer): string {
    if (this.#done || this.#failure !== undefined) return '';
    if (this.#reader !== undefined) return this.#read(this.#reader, bytes);
    const fresh = bytes.toString('latin1');
    // A long line in many pieces: looking at all of it each time would take the square of the time.
    if (this.#carry !== '' && !/[\r\n]/.test(fresh)) return this.#keep(this.#carry + fresh);
    const text = this.#carry + fresh;
    const end = text.lastIndexOf('\n\n');
    if (end === -1) {
      return text.includes('\r') || !couldBegin(text) ? this.#readCarefully(text) : this.#keep(text);
    }
    const events = text.slice(0, end + 2);
    this.#carry = text.slice(end + 2);
    const out = this.#each(events);
    return out + this.#keep(this.#carry);
  }

  /** What is left to write at the end of the upstream's answer. `failure`: it stopped in the middle. */
  end(): string {
    let out = '';
    if (!this.#done && this.#failure === undefined) {
      const rest = Buffer.from(this.#carry, 'latin1');
      this.#carry = '';
      const reader = this.#reader ?? new EventReader(this.#options.sseLineBytes);
      out += this.#read(reader, rest);
      if (this.#failure === undefined) out += this.#read(reader, undefined);
    }
    if (this.#failure !== undefined) return out;
    if (this.#done ? this.#mender.isCut : !this.#mender.ended) {
      this.#failure = new SluiceError('upstream_cut', 'The provider ended its answer in the middle.');
      return out;
    }
    this.#done = true;
    return out + this.#mender.closing(this.#estimate()).map(write).join('') + DONE;
  }

  #keep(text: string): string {
    this.#carry = text;
    if (text.length > this.#options.sseLineBytes) {
      this.#failure ??= new SluiceError(
        'upstream_invalid',
        `The provider sent an event of more than ${this.#options.sseLineBytes} bytes.`,
      );
    }
    return '';
  }

  #each(events: string): string {
    let out = '';
    for (let start = 0; start < events.length; ) {
      const rest = this.#restOfKnown(events, start);
      if (rest !== '') {
        out += this.#sent + rest;
        this.#tokens += tokensOf(this.#size);
        this.#unreadable.makeUp();
        start += this.#size;
        continue;
      }
      const end = events.indexOf('\n\n', start);
      const event = events.slice(start, end);
      const mended = this.#alikeTo(event);
      if (mended !== '') {
        out += mended;
        this.#tokens += tokensOf(event.length + 2);
        this.#unreadable.makeUp();
        start = end + 2;
        continue;
      }
      const isComment = event.startsWith(':');
      if (!(isComment || event.startsWith(DATA)) || event.includes('\n') || event.includes('\r')) {
        return out + this.#readCarefully(events.slice(start) + this.#carry);
      }
      if (!isComment) out += this.#event(Buffer.from(event, 'latin1').toString('utf8', DATA.length), event);
      start = end + 2;
    }
    return out;
  }

  /** What stands behind the known beginning of the event at `start`, up to its end; '' if the event needs a closer look. */
  #restOfKnown(events: string, start: number): string {
    const known = this.#known;
    if (known === '' || this.#mender.ending || this.#done || this.#failure !== undefined) return '';
    const inside = start + known.length;
    const end = events.indexOf('\n', inside) + 2;
    // Comparing a slice is many times faster than startsWith.
    if (events.slice(start, inside) !== known) return '';
    const rest = without(events.slice(inside, end), this.#omitted);
    if (!rest.endsWith('\n\n') || this.#unusual.test(rest)) return '';
    this.#size = end - start;
    const at = this.#contentAt;
    return rest.slice(at, at + CONTENT.length) === CONTENT || rest.includes(CONTENT) ? rest : '';
  }

  /** What clients get for an event that differs from the one learned in its text alone; '' if it needs a closer look. */
  #alikeTo(event: string): string {
    if (this.#mender.ending || this.#done || this.#failure !== undefined) return '';
    const literal = this.#alike.literalOf(event);
    return literal === undefined ? '' : this.#before + literal + this.#behind;
  }

  /** Hands the stream to a complete parser, for good. */
  #readCarefully(text: string): string {
    this.#carry = '';
    this.#reader = new EventReader(this.#options.sseLineBytes);
    return this.#read(this.#reader, Buffer.from(text, 'latin1'));
  }

  /** The events that bytes complete, or, without bytes, that the end does. */
  #read(reader: EventReader, bytes: Buffer | undefined): string {
    let out = '';
    try {
      for (const data of bytes === undefined ? reader.end() : reader.push(bytes)) out += this.#event(data, '');
    } catch (error) {
      this.#failure ??= toSluiceError(error);
    }
    return out;
  }

  /** One event, decoded. `raw` is how it came, if it came in one line. */
  #event(data: string, raw: string): string {
    if (this.#done || this.#failure !== undefined) return '';
    if (data.length < 16) {
      const word = data.trim();
      this.#done = word === '[DONE]';
      // A sign of life, if nothing at all.
      if (this.#done || word === '') return '';
    }
    const event = parseObject(data);
    if (event === undefined) {
      // No chunk: clients would stumble over it.
      this.#failure = this.#unreadable.add();
      return '';
    }
    this.#unreadable.makeUp();
    this.#failure = failureInAnswer(event);
    if (this.#failure !== undefined) return '';
    const keys = Object.keys(event);
    const lacksUsage = this.#mender.lacksUsage(event);
    let mended: Mended | undefined;
    try {
      mended = this.#mender.mend(event);
    } catch (error) {
      this.#failure = toSluiceError(error);
      return '';
    }
    if (mended === undefined) return '';
    const isKnown = this.#known !== '' && raw.startsWith(this.#known);
    // What others leave out is taken from this one; and what is passed on without a look says nothing for others.
    if (!isKnown) this.#known = '';
    this.#alike.forget();
    this.#tokens += tokensOf(Buffer.byteLength(data) + DATA.length + 2);
    if (!isKnown && raw !== '' && this.visible && !this.#mender.ending) {
      if (!(mended.isIntact && this.#learn(raw, keys, lacksUsage))) this.#learnText(raw, mended.chunk);
    }
    if (!mended.isIntact) return write(mended.chunk);
    const said = lacksUsage ? without(data, omittedOf(data)) : data;
    if (!mended.isNamed || data.includes('\n') || (lacksUsage && said === data)) return write(mended.chunk);
    return `${DATA}${latin1(`{"provider":${JSON.stringify(this.#options.provider)},${said.slice(said.indexOf('{') + 1)}`)}\n\n`;
  }

  /** Notes how an event begins that may be passed on, if all that names the answer stands in that beginning. Whether it does. */
  #learn(raw: string, keys: readonly string[], lacksUsage: boolean): boolean {
    const end = raw.indexOf(DELTA) + DELTA.length;
    const opened = raw.includes(DELTA)
      ? parseObject(`${Buffer.from(raw.slice(DATA.length, end), 'latin1')}}}]}`)
      : undefined;
    if (opened === undefined) return false;
    const { choices, ...fields } = opened;
    const isFirst = Object.hasOwn(fields, 'usage');
    if (lacksUsage) delete fields['usage'];
    // A field that comes behind the beginning may change from event to event.
    if (!['id', 'object', 'created', 'model'].every((name) => Object.hasOwn(fields, name))) return false;
    // What is not right here is taken from other events, and they may change it.
    if (!Number.isSafeInteger(fields['created']) || typeof fields['model'] !== 'string' || fields['model'] === '')
      return false;
    if (keys.includes('provider') && !Object.hasOwn(fields, 'provider')) return false;
    const [choice, ...others] = choices as Json[];
    const opening = JSON.stringify(choice);
    if (others.length > 0 || !opening.endsWith('"delta":{}}')) return false;
    this.#known = raw.slice(0, end);
    this.#contentAt = raw.indexOf(CONTENT, end) - end;
    this.#omitted = lacksUsage && !isFirst ? omittedOf(raw) : '';
    const head = JSON.stringify({ ...fields, ...this.#mender.nameOf(fields) });
    this.#sent = latin1(`${DATA}${head.slice(0, -1)},"choices":[${opening.slice(0, -2)}`);
    return true;
  }

  /** Notes what becomes of an event around its text, if that is all it says. */
  #learnText(raw: string, chunk: Json): void {
    const [choice, ...others] = chunk['choices'] as { readonly delta: Json }[];
    const { content } = choice?.delta ?? {};
    if (others.length > 0 || typeof content !== 'string' || content === '') return;
    // Whatever else can be seen of it may be a piece, and must not be taken for two.
    if (isVisibleMessage({ ...choice?.delta, content: '' })) return;
    this.#alike.learn(raw, latin1(JSON.stringify(content)), (event) => {
      const probe = parseObject(Buffer.from(event, 'latin1').toString('utf8', DATA.length));
      const mended = probe && this.#mender.mend(probe);
      const [before = '', behind, ...more] = mended === undefined ? [] : write(mended.chunk).split(PROBE_IN_JSON);
      if (behind === undefined || more.length > 0) return false;
      this.#before = before;
      this.#behind = behind;
      return true;
    });
  }

  #estimate(): Usage {
    const { promptTokens } = this.#options;
    const completionTokens = this.#tokens;
    return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, estimated: true };
  }
}

function tokensOf(eventBytes: number): number {
  return 1 + (Math.max(0, eventBytes - TOKEN_EVENT_BYTES) >> 2);
}

/** The usage of null of an event that has one, as it is spelled; '' where its place is not plain. */
function omittedOf(event: string): string {
  const [omitted = ''] = event.match(NO_USAGE)?.length === 1 ? (NO_USAGE_BEHIND.exec(event) ?? []) : [];
  return omitted;
}

function without(text: string, omitted: string): string {
  const at = omitted === '' ? -1 : text.indexOf(omitted);
  return at === -1 ? text : text.slice(0, at) + text.slice(at + omitted.length);
}

/** Whether text without an event's end can still become `data: …`, or a comment. */
function couldBegin(text: string): boolean {
  return text.startsWith(DATA) || DATA.startsWith(text) || text.startsWith(':');
}

function write(chunk: Json): string {
  return `${DATA}${latin1(JSON.stringify(chunk))}\n\n`;
}

/** UTF-16 → one character per UTF-8 byte. Plain ASCII, which most data is, stays the same string. */
function latin1(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is the range of ASCII
  return /^[\u0000-\u007f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}
