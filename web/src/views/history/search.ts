import type { Hit } from '../../state/history-index.ts';
import type { Snippet } from '../../state/history-text.ts';

/** What the page says to the thread that searches. */
export type ToWorker =
  | { readonly kind: 'search'; readonly call: number; readonly search: string }
  | { readonly kind: 'snippets'; readonly call: number; readonly search: string; readonly messages: readonly string[] };

/** What it says back. */
export type FromWorker =
  | { readonly kind: 'answer'; readonly call: number; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly call: number; readonly message: string }
  /** Something that is searched has changed. */
  | { readonly kind: 'changed' };

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

/** Begins with the first search, and stays: reading everything again would take longer than keeping it. */
let worker: Worker | undefined;
let calls = 0;
const waiting = new Map<number, Waiting>();
const listeners = new Set<() => void>();

function thread(): Worker {
  if (worker !== undefined) return worker;
  worker = new Worker(new URL('./search-worker.ts', import.meta.url), { type: 'module' });
  worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    if (data.kind === 'changed') {
      for (const listener of listeners) listener();
      return;
    }
    const call = waiting.get(data.call);
    waiting.delete(data.call);
    if (data.kind === 'answer') call?.resolve(data.answer as never);
    else call?.reject(new Error(data.message));
  });
  worker.addEventListener('error', () => {
    worker?.terminate();
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new Error('The search has failed.'));
    waiting.clear();
  });
  return worker;
}

function send<Answer>(message: (call: number) => ToWorker): Promise<Answer> {
  calls += 1;
  const call = calls;
  return new Promise<Answer>((resolve, reject) => {
    waiting.set(call, { resolve, reject });
    thread().postMessage(message(call));
  });
}

/** Lets the reading begin before anybody has typed. */
export function warmUp(): void {
  thread();
}

/** The chats in which all words of a search occur. */
export function searchChats(search: string): Promise<readonly Hit[]> {
  return send((call) => ({ kind: 'search', call, search }));
}

/** The places in messages where the words of a search occur, by message. */
export function snippetsIn(messages: readonly string[], search: string): Promise<Readonly<Record<string, Snippet>>> {
  return send((call) => ({ kind: 'snippets', call, search, messages }));
}

/** Calls `listener` when a search may find something else than before. Returns the way to end it. */
export function onChanged(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
