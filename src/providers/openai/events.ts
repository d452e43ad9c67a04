import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import { SluiceError, toSluiceError } from '../../core/errors.ts';
import { parseObject } from '../../core/objects.ts';
import { Unreadable } from './unreadable.ts';

const SPACE = 0x20;
/** A byte order mark in UTF-8. */
const MARK = Buffer.of(0xef, 0xbb, 0xbf);
/** How JSON and HTML begin. */
const OPENING = Buffer.from('{[<');

/** Bytes of an event stream → the data of each event (WHATWG HTML §9.2), however the bytes were split. */
export class EventReader {
  readonly #decoder = new StringDecoder('utf8');
  readonly #parser: EventSourceParser;
  readonly #limit: number;
  readonly #unreadable = new Unreadable();
  /** Bytes since the last event or comment: the parser does not count lines without data, but keeps them. */
  #pending = 0;
  #found: string[] = [];
  #failure: SluiceError | undefined;

  /**
   * @param limit bytes that one event may have, with the names of its lines
   * @param dataOf what an event says; absent: its data, errors as OpenAI's
   */
  constructor(limit: number, dataOf: (event: EventSourceMessage) => string = withErrors) {
    this.#limit = limit;
    this.#parser = createParser({
      maxBufferSize: limit,
      onEvent: (event) => {
        this.#pending = 0;
        this.#unreadable.makeUp();
        this.#found.push(dataOf(event));
      },
      onComment: () => {
        this.#pending = 0;
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#fail();
        else {
          const failure = this.#unreadable.add();
          // At once: the rest of these bytes may hold as many again.
          if (failure !== undefined) throw failure;
        }
      },
    });
  }

  /** The data of every event that `bytes` completes. Throws once all that came before an event over the limit is handed out. */
  push(bytes: Buffer): readonly string[] {
    return this.#feed(this.#decoder.write(bytes), bytes.length);
  }

  /** The last event, where an upstream ends without the empty line that should close it. */
  end(): readonly string[] {
    return this.#feed(`${this.#decoder.end()}\n\n`, 0);
  }

  #feed(text: string, size: number): readonly string[] {
    if (this.#failure === undefined) {
      this.#pending += size;
      this.#parse(text);
      if (this.#pending > this.#limit) this.#fail();
    }
    if (this.#found.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      return NOTHING;
    }
    const found = this.#found;
    this.#found = [];
    return found;
  }

  #parse(text: string): void {
    try {
      this.#parser.feed(text);
    } catch (error) {
      this.#failure ??= toSluiceError(error);
    }
  }

  #fail(): void {
    this.#failure ??= new SluiceError(
      'upstream_invalid',
      `The provider sent an event of more than ${this.#limit} bytes.`,
    );
  }
}

const NOTHING: readonly string[] = [];

/** What an event says in a vendor's own format. */
export function dataAsSent({ data }: EventSourceMessage): string {
  return data;
}

/** Some upstreams call an error by the name of its event only: it says then what OpenAI would have sent. */
function withErrors({ event, data }: EventSourceMessage): string {
  if (event !== 'error') return data;
  const said = parseObject(data);
  return said !== undefined && 'error' in said ? data : JSON.stringify({ error: said ?? data });
}

/**
 * Whether bytes begin an event stream rather than JSON or HTML; undefined while there is nothing but white space, however much,
 * and a byte order mark or a part of one. What the bytes say counts, not the content type: some upstreams cannot stream every
 * model and send JSON, others stream under a wrong name.
 */
export function looksLikeEvents(bytes: Buffer): boolean | undefined {
  const first = bytes.find((byte) => byte > SPACE && !MARK.includes(byte));
  return first === undefined ? undefined : !OPENING.includes(first);
}

/** Without what is left of a byte order mark whose beginning came before: no text begins with it. */
export function withoutRestOfMark(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.findIndex((byte) => byte !== MARK[1] && byte !== MARK[2]));
}
