import { parseObject } from '../../core/objects.ts';
import { AlikeEvents, PROBE } from '../openai/alike.ts';
import { dataAsSent, EventReader } from '../openai/events.ts';
import { Unreadable } from '../openai/unreadable.ts';
import { DONE } from './answering.ts';

type Json = Record<string, unknown>;

/** A piece of text in an event: the member that holds it, and what it is a piece of. */
export interface Said {
  readonly holder: Json;
  readonly member: string;
  /** Equal for pieces that may be one. */
  readonly of: string;
}

/** What can be told of the events of a vendor's streams. */
export interface EventKinds {
  /** Where an event says a piece of text and nothing that must not be lost; undefined for every other event. */
  says(event: Json): Said | undefined;
  /** Makes what mends the events of one answer. */
  mending?(): Mending;
  /**
   * Whether an event, as JSON text, is the end of the answer; tokens and the like may follow, but need not. For vendors whose
   * library waits for the end of the connection instead.
   */
  ends?(data: string): boolean;
}

/** Adds what the library insists on and some servers leave out. */
export interface Mending {
  /** What the library reads in the place of an event, all JSON texts; undefined for what turns out to be no event. */
  mend(data: string): string | readonly string[] | undefined;
  /** What it reads behind the last event, where the connection has ended well. */
  end?(): readonly string[];
}

/** Whether an object has no other members than these. */
export function hasOnly(object: Json, names: ReadonlySet<string>): boolean {
  for (const name in object) if (!names.has(name)) return false;
  return true;
}

const NOTHING: readonly string[] = [];

/** Whether a text begins and ends as an object in JSON does: to parse all of it would cost as much as the library's reading. */
function isObjectLike(data: string): boolean {
  return OBJECT_START.test(data) && data.trimEnd().endsWith('}');
}

const OBJECT_START = /^\s*\{\s*["}]/;

/** Texts that wait for the library. It reads them at once, save those that it has no use for. */
const MOST_WAITING = 256;

/**
 * Neighbouring pieces of text become one event on their way to a vendor's library, to which each event costs a dozen promises
 * in its streams, and pieces again behind it. Nobody sees the difference: only what came in one read is joined, and
 * a text that the library hands on changed stays as it is.
 */
export class JoinedTexts {
  readonly #kinds: EventKinds;
  readonly #mending: Mending | undefined;
  readonly #reader: EventReader;
  readonly #encoder = new TextEncoder();
  readonly #waiting = new Map<string, readonly string[]>();
  readonly #alike = new AlikeEvents();
  readonly #unreadable = new Unreadable();
  /** What the pieces are of that the alike events say. */
  #alikeOf = '';
  #complete = false;

  /** @param limit bytes that one event may have, which the library would collect without end */
  constructor(kinds: EventKinds, limit: number) {
    this.#kinds = kinds;
    this.#reader = new EventReader(limit, dataAsSent);
    this.#mending = kinds.mending?.();
  }

  /** Whether an event has said that the answer is over. */
  get complete(): boolean {
    return this.#complete;
  }

  /** What the library reads in the place of `bytes`; undefined while no event is complete. Throws for one that is too large. */
  push(bytes: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
    const sent = this.#reader.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return this.#handOn(this.#mended(sent));
  }

  /** What the library reads at last, where the connection has ended well. */
  end(): Uint8Array<ArrayBuffer> | undefined {
    // Of an answer that was cut within an event, the rest of this event is no news.
    const rest = this.#mended(this.#reader.end().filter((data) => parseObject(data) !== undefined));
    return this.#handOn([...rest, ...(this.#mending?.end?.() ?? [])]);
  }

  #mended(sent: readonly string[]): readonly string[] {
    const mending = this.#mending;
    if (mending === undefined) return sent;
    return sent.flatMap((data) => {
      const mended = isObjectLike(data) ? mending.mend(data) : undefined;
      if (mended === undefined) return this.#passOver(data);
      this.#unreadable.makeUp();
      return mended;
    });
  }

  /** To the library it would be the end of the answer. */
  #passOver(data: string): readonly string[] {
    const failure = data === DONE ? undefined : this.#unreadable.add();
    if (failure !== undefined) throw failure;
    return NOTHING;
  }

  #handOn(events: readonly string[]): Uint8Array<ArrayBuffer> | undefined {
    const { ends } = this.#kinds;
    if (events.length === 0) return undefined;
    if (ends !== undefined) this.#complete ||= events.some(ends);
    const [only] = events;
    return this.#encoder.encode(events.length === 1 ? `data: ${only}\n\n` : this.#join(events));
  }

  /** The pieces of a text that came from the library. */
  apart(text: string): readonly string[] {
    const pieces = this.#waiting.get(text);
    if (pieces === undefined) return [text];
    this.#waiting.delete(text);
    return pieces;
  }

  #join(events: readonly string[]): string {
    let joined = '';
    let run: Run | undefined;
    for (const data of events) {
      const alike = run === undefined ? undefined : this.#alikeText(data, run.said);
      if (run !== undefined && alike !== undefined) {
        run.pieces.push(alike);
        continue;
      }
      const event = parseObject(data);
      const said = event === undefined ? undefined : this.#kinds.says(event);
      const text = said?.holder[said.member];
      if (event !== undefined && said !== undefined && typeof text === 'string') {
        if (run?.said.of !== said.of) {
          joined += this.#endOf(run);
          run = { data, event, said, pieces: [] };
        }
        // The last event counts for all else that it says, such as the tokens so far.
        run.event = event;
        run.said = said;
        run.pieces.push(text);
        this.#learn(data, text, said);
      } else {
        joined += `${this.#endOf(run)}data: ${data}\n\n`;
        run = undefined;
      }
    }
    return joined + this.#endOf(run);
  }

  /** The piece that an event says if nothing else distinguishes it from the last ones of the same text. */
  #alikeText(data: string, { of }: Said): string | undefined {
    return of === this.#alikeOf ? this.#alike.textOf(data) : undefined;
  }

  /** Remembers what stands around a piece, for the next ones. */
  #learn(data: string, text: string, said: Said): void {
    if (!this.#alike.isLearning || this.#alikeText(data, said) !== undefined) return;
    const { member, of } = said;
    const saysOnlyProbe = (probe: string): boolean => {
      const event = parseObject(probe);
      const probed = event && this.#kinds.says(event);
      return probed?.holder[probed.member] === PROBE && probed.of === of;
    };
    if (this.#alike.learn(data, JSON.stringify(text), saysOnlyProbe, member)) this.#alikeOf = of;
  }

  #endOf(run: Run | undefined): string {
    if (run === undefined) return '';
    const { data, event, said, pieces } = run;
    if (pieces.length === 1) return `data: ${data}\n\n`;
    const text = pieces.join('');
    said.holder[said.member] = text;
    if (this.#waiting.size >= MOST_WAITING) this.#waiting.clear();
    this.#waiting.set(text, pieces);
    return `data: ${JSON.stringify(event)}\n\n`;
  }
}

/** Pieces that are joined so far, and the last event of them. */
interface Run {
  /** The first event as it came. */
  readonly data: string;
  event: Json;
  said: Said;
  readonly pieces: string[];
}
