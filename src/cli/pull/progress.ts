const REFRESH_MS = 200;
const MB = 1_000_000;
/** Without a terminal there is a line for each of so many parts. */
const PARTS = 10;
/** Takes back the line and what stands on it. */
const LINE = '\r\x1b[K';

/** How far a download is: a line that changes, or, where the output is no terminal, a few lines. */
export class Progress {
  readonly #name: string;
  readonly #output: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  #begun: { readonly at: number; readonly bytes: number } | undefined;
  #shownAt = Number.NEGATIVE_INFINITY;
  #part = -1;
  #isOnLine = false;

  constructor(name: string, output: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>) {
    this.#name = name;
    this.#output = output;
  }

  show(bytes: number, total: number | undefined): void {
    const now = performance.now();
    this.#begun ??= { at: now, bytes };
    const part = total === undefined || total === 0 ? 0 : Math.floor((bytes / total) * PARTS);
    if (this.#output.isTTY ? now - this.#shownAt < REFRESH_MS && bytes !== total : part === this.#part) return;
    this.#shownAt = now;
    this.#part = part;
    const speed = (bytes - this.#begun.bytes) / Math.max(1, now - this.#begun.at) / 1_000;
    const share =
      total === undefined ? '' : ` of ${(total / MB).toFixed(0)} MB, ${Math.floor((bytes / (total || 1)) * 100)} %`;
    const text = `${this.#name}: ${(bytes / MB).toFixed(0)}${share === '' ? ' MB' : share}, ${speed.toFixed(1)} MB/s`;
    this.#output.write(this.#output.isTTY ? LINE + text : `${text}\n`);
    this.#isOnLine = this.#output.isTTY;
  }

  /** A sentence in between. */
  say(text: string): void {
    this.end();
    this.#output.write(`${text}\n`);
  }

  end(): void {
    if (this.#isOnLine) this.#output.write('\n');
    this.#isOnLine = false;
  }
}
