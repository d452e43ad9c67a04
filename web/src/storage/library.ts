import { useEffect, useReducer } from 'preact/hooks';
import { type KeptRecord, putRecords, readRecords, removeRecords } from './records.ts';
import { listen } from './tabs.ts';

/** Things of one kind that a person collects: prompts, presets. The same in all tabs. */
export interface Library<Shape extends KeptRecord> {
  /** What is known by now; empty until it was read. */
  get(): readonly Shape[];
  /** Reads it, the first time. */
  load(): Promise<readonly Shape[]>;
  put(records: readonly Shape[]): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  /** Returns the way to end it. */
  subscribe(listener: () => void): () => void;
}

/** The records of `kind`, in the order that `compare` gives them. */
export function createLibrary<Shape extends KeptRecord>(
  kind: string,
  compare: (a: Shape, b: Shape) => number,
): Library<Shape> {
  let records: readonly Shape[] = [];
  let reading: Promise<readonly Shape[]> | undefined;
  let isListening = false;
  const listeners = new Set<() => void>();
  const set = (next: readonly Shape[]): void => {
    records = [...next].sort(compare);
    for (const listener of [...listeners]) listener();
  };
  const read = async (): Promise<readonly Shape[]> => {
    set(await readRecords<Shape>(kind));
    return records;
  };
  const listenToOthers = (): void => {
    if (isListening) return;
    isListening = true;
    listen((word) => {
      // What cannot be read anew stays as it is known.
      if ((word.kind === 'records' && word.of === kind) || word.kind === 'cleared') read().catch(() => {});
    });
  };
  const load = (): Promise<readonly Shape[]> => {
    if (reading === undefined) {
      reading = read();
      reading.catch(() => {
        reading = undefined;
      });
      listenToOthers();
    }
    return reading;
  };
  // Where nothing can be read, there is at least what comes: until the page is closed.
  const attempt = (): Promise<unknown> => load().catch(() => {});
  return {
    get: () => records,
    load,
    put: async (changed) => {
      await attempt();
      const ids = new Set(changed.map(({ id }) => id));
      set([...records.filter(({ id }) => !ids.has(id)), ...changed]);
      await putRecords(kind, changed);
    },
    remove: async (ids) => {
      await attempt();
      set(records.filter(({ id }) => !ids.includes(id)));
      await removeRecords(kind, ids);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The records of a library, and those that come. */
export function useLibrary<Shape extends KeptRecord>(library: Library<Shape>): readonly Shape[] {
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const end = library.subscribe(() => again(undefined));
    library.load().then(
      () => again(undefined),
      () => {},
    );
    return end;
  }, [library]);
  return library.get();
}
