/** What readers of a bucket's event stream are told, in the words of dialect A. */
export type BucketEvent =
  | { readonly action: 'download'; readonly count: number }
  /** A file is being turned into text: an addition of ours, which older front ends pass over. */
  | { readonly action: 'convert'; readonly filename: string }
  /** `size`: bytes of text so far. */
  | { readonly action: 'load'; readonly size: number }
  | { readonly action: 'media'; readonly filename: string }
  | { readonly action: 'delete_files' }
  | { readonly action: 'done'; readonly size: number };

/** Uploads that are under way, by bucket, and those who watch them. */
export class Activity {
  readonly #running = new Map<
    string,
    {
      uploads: Set<AbortController>;
      watchers: Set<(event: BucketEvent | undefined) => void>;
      last?: BucketEvent;
    }
  >();

  readonly #onChange: ((id: string, isRunning: boolean) => void) | undefined;

  /** @param onChange told of the first upload into a bucket, and of the end of the last */
  constructor(onChange?: (id: string, isRunning: boolean) => void) {
    this.#onChange = onChange;
  }

  /** Begins an upload, until `end` is called. `signal` aborts when it is given up. */
  begin(id: string): { readonly signal: AbortSignal; end(): void } {
    const entry = this.#running.get(id) ?? { uploads: new Set(), watchers: new Set() };
    if (entry.uploads.size === 0) this.#onChange?.(id, true);
    const upload = new AbortController();
    entry.uploads.add(upload);
    this.#running.set(id, entry);
    const end = (): void => {
      entry.uploads.delete(upload);
      if (entry.uploads.size > 0) return;
      this.#running.delete(id);
      this.#onChange?.(id, false);
      for (const watcher of entry.watchers) watcher(undefined);
    };
    return { signal: upload.signal, end };
  }

  /** Whether an upload is under way that nobody has given up. */
  isRunning(id: string): boolean {
    return (
      this.#running
        .get(id)
        ?.uploads.values()
        .some(({ signal }) => !signal.aborted) === true
    );
  }

  /** Gives up all uploads that are under way. */
  giveUp(id: string, reason: Error): void {
    for (const upload of this.#running.get(id)?.uploads ?? []) upload.abort(reason);
  }

  tell(id: string, event: BucketEvent): void {
    const entry = this.#running.get(id);
    if (entry === undefined) return;
    entry.last = event;
    for (const watcher of entry.watchers) watcher(event);
  }

  /** What happens until no upload runs any more, or the reader leaves. */
  async *watch(id: string, signal: AbortSignal): AsyncIterable<BucketEvent> {
    const entry = this.#running.get(id);
    if (entry === undefined) return;
    const waiting: (BucketEvent | undefined)[] = entry.last === undefined ? [] : [entry.last];
    let wake = (): void => {};
    const watcher = (event: BucketEvent | undefined): void => {
      waiting.push(event);
      wake();
    };
    const leave = (): void => watcher(undefined);
    entry.watchers.add(watcher);
    signal.addEventListener('abort', leave, { once: true });
    try {
      for (;;) {
        if (waiting.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const event = waiting.shift();
        if (event === undefined) return;
        yield event;
      }
    } finally {
      entry.watchers.delete(watcher);
      signal.removeEventListener('abort', leave);
    }
  }
}
