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
    { count: number; watchers: Set<(event: BucketEvent | undefined) => void>; last?: BucketEvent }
  >();

  readonly #onChange: ((id: string, isRunning: boolean) => void) | undefined;

  /** @param onChange told of the first upload into a bucket, and of the end of the last */
  constructor(onChange?: (id: string, isRunning: boolean) => void) {
    this.#onChange = onChange;
  }

  /** Begins an upload; the function that comes back ends it. */
  begin(id: string): () => void {
    const entry = this.#running.get(id) ?? { count: 0, watchers: new Set() };
    if (entry.count === 0) this.#onChange?.(id, true);
    entry.count += 1;
    this.#running.set(id, entry);
    return () => {
      entry.count -= 1;
      if (entry.count > 0) return;
      this.#running.delete(id);
      this.#onChange?.(id, false);
      for (const watcher of entry.watchers) watcher(undefined);
    };
  }

  /** Whether an upload is under way. */
  isRunning(id: string): boolean {
    return this.#running.has(id);
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
