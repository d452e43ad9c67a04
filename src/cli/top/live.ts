import { setTimeout as sleep } from 'node:timers/promises';
import type { WriteStream } from 'node:tty';
import { unlessAborted } from '../../core/unless-aborted.ts';
import { explainFailure } from '../failure.ts';
import type { Snapshot } from './snapshot.ts';
import { look, newest, type Source } from './source.ts';
import { type Shown, view } from './view.ts';

/** What a terminal consists of, as far as it is needed here. */
export interface Terminal {
  readonly input: {
    on(event: 'data', listener: (keys: Buffer | string) => void): unknown;
    off(event: 'data', listener: (keys: Buffer | string) => void): unknown;
    resume(): unknown;
    pause(): unknown;
    setRawMode?(raw: boolean): unknown;
  };
  readonly output: Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'rows'>> & {
    write(text: string): unknown;
    on(event: 'resize', listener: () => void): unknown;
    off(event: 'resize', listener: () => void): unknown;
  };
}

/** A screen of its own without a cursor, and back (xterm's control sequences). */
const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const REST_OF_LINE = '\x1b[K';
const REST_OF_SCREEN = '\x1b[J';

const ESCAPE = '\x1b';
/** Ctrl-C and Ctrl-D, which are part of no other key. */
const ALWAYS_QUIT: readonly string[] = ['\x03', '\x04'];
const QUITS: readonly string[] = ['q', 'Q', ...ALWAYS_QUIT];
/** SIGHUP comes when a terminal's window is closed, or a connection to it lost: one that is picked up again must not be left drawn over. */
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The live view: looks again and again, draws, and leaves the terminal as it was. */
export class Live {
  readonly #source: Source;
  readonly #intervalMs: number;
  readonly #terminal: Terminal;
  readonly #colour: boolean;
  #seen: Shown | undefined;

  constructor(source: Source, intervalMs: number, terminal: Terminal, colour: boolean) {
    this.#source = source;
    this.#intervalMs = intervalMs;
    this.#terminal = terminal;
    this.#colour = colour;
  }

  /** Until a key ends it. Throws when there is nothing to be seen from the beginning. */
  async run(): Promise<void> {
    const { input, output } = this.#terminal;
    let before: Snapshot = await look(this.#source);
    this.#seen = { url: this.#source.url, now: before, before: undefined, requests: await newest(this.#source) };
    // A promise of the end, raced with each look, would remember every one of them.
    const over = new AbortController();
    const { signal } = over;
    const end = (): void => over.abort();
    const onKey = (keys: Buffer | string): void => {
      if (isQuit(String(keys))) end();
    };
    const onResize = (): void => this.#draw();
    output.write(ENTER);
    input.setRawMode?.(true);
    input.on('data', onKey);
    input.resume();
    output.on('resize', onResize);
    for (const name of ENDING_SIGNALS) process.once(name, end);
    try {
      for (;;) {
        this.#draw();
        await sleep(this.#intervalMs, undefined, { ref: false, signal });
        before = (await unlessAborted(this.#look(before), signal)) ?? before;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const name of ENDING_SIGNALS) process.off(name, end);
      output.off('resize', onResize);
      input.off('data', onKey);
      input.pause();
      input.setRawMode?.(false);
      output.write(LEAVE);
    }
  }

  /** What there is now; undefined when it could not be had, which is shown. */
  async #look(before: Snapshot): Promise<Snapshot | undefined> {
    const { url } = this.#source;
    try {
      const [now, requests] = await Promise.all([look(this.#source), newest(this.#source)]);
      this.#seen = { url, now, before, requests };
      return now;
    } catch (error) {
      const [problem] = explainFailure(error).lines;
      this.#seen = { url, now: before, before: undefined, requests: this.#seen?.requests, problem };
      return undefined;
    }
  }

  #draw(): void {
    if (this.#seen === undefined) return;
    const { output } = this.#terminal;
    const screen = { columns: output.columns || 80, rows: output.rows || 24, colour: this.#colour };
    const lines = view(this.#seen, screen);
    output.write(HOME + lines.map((line) => line + REST_OF_LINE).join('\r\n') + REST_OF_SCREEN);
  }
}

/** Whether one of the keys that arrived together says so. Escape with more behind it is another key, such as an arrow. */
function isQuit(keys: string): boolean {
  const [plain = ''] = keys.split(ESCAPE, 1);
  return (
    QUITS.some((key) => plain.includes(key)) || ALWAYS_QUIT.some((key) => keys.includes(key)) || keys.endsWith(ESCAPE)
  );
}
