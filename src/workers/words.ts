import type { Bind } from '../config/bind.ts';
import type { Config, ProviderConfig } from '../config/config.ts';
import type { Batch } from '../core/chunk.ts';
import type { Embeddings } from '../core/embedding.ts';
import type { MediaChange } from '../media/store.ts';
import type { KeptGroup } from '../observe/insights.ts';
import type { KeptPage } from '../observe/ledger.ts';
import type { Seen } from '../observe/observation.ts';
import type { LogQuery } from '../observe/request-log.ts';
import type { EmbedderSettings } from '../providers/embedded/embedder.ts';
import type { Task } from '../providers/embedded/protocol.ts';
import type { SchedulerSettings } from '../providers/embedded/scheduler.ts';
import type { Result } from '../stores/sql/handle.ts';
import type { Statement } from '../stores/sql/sql.ts';
import type { PlainError } from './plain-error.ts';

/** Everything that the primary and its workers ask each other. */
export interface Asks {
  // A worker asks the primary.

  /** Statements for the one database; `problem` is what is wrong with it in general. */
  readonly database: {
    readonly body: { readonly writes: boolean; readonly statements: readonly Statement[] };
    readonly answer: { readonly problem: string | undefined } & (
      | { readonly results: readonly Result[] }
      | { readonly failure: PlainError }
    );
  };
  /** Looks whether it can be written again, where that failed. */
  readonly 'database.recover': { readonly body: undefined; readonly answer: undefined };
  /** Places for so many answers, in all or of one client. Fewer are given only when all others are really taken. */
  readonly places: {
    readonly body: { readonly client: string | undefined; readonly want: number };
    readonly answer: number;
  };
  /** The tag of a worker that takes an upload into this bucket. */
  readonly uploading: { readonly body: string; readonly answer: string | undefined };
  /** How often each provider has answered in all workers. */
  readonly 'answers.all': { readonly body: undefined; readonly answer: ReadonlyMap<string, number> };
  /** Tells all other workers; answered once they know. */
  readonly spread: { readonly body: News; readonly answer: undefined };
  readonly 'ledger.query': { readonly body: LogQuery; readonly answer: KeptPage };
  readonly 'ledger.find': { readonly body: string; readonly answer: Seen | undefined };
  readonly 'ledger.clear': { readonly body: undefined; readonly answer: number };
  readonly 'ledger.days': {
    readonly body: readonly string[];
    readonly answer: readonly (readonly [string, readonly KeptGroup[]])[];
  };
  readonly 'ledger.render': { readonly body: undefined; readonly answer: string };
  readonly embed: {
    readonly body: {
      readonly id: number;
      readonly settings: EmbedderSettings;
      readonly modelPath: string;
      readonly texts: readonly string[];
    };
    readonly answer: Embeddings;
  };

  /** The worker ends, with these metrics of its process; answered once all that it said before has arrived. */
  readonly farewell: { readonly body: string; readonly answer: undefined };

  // The primary asks a worker.

  /** Applies news; of found local servers the lines that greet them come back. */
  readonly news: { readonly body: News; readonly answer: readonly string[] | undefined };
  /** Takes back the places that are not in use, in all or of one client; with `all`, the others too as soon as they are free. */
  readonly unused: {
    readonly body: { readonly client: string | undefined; readonly all: boolean };
    readonly answer: number;
  };
  /** It takes no new connection any more, which is answered at once, and ends when it has nothing to do. */
  readonly retire: { readonly body: undefined; readonly answer: undefined };
  /** How often each provider has answered in it. */
  readonly answers: { readonly body: undefined; readonly answer: ReadonlyMap<string, number> };
  /** What it does now; whatever it has noted of finished requests comes before. */
  readonly present: { readonly body: undefined; readonly answer: WorkerPresent };
}

/** What they tell each other without waiting. */
export interface Tells {
  // A worker tells the primary.

  /** It serves: where, and the text that greets whoever started Sluice. */
  readonly serving: Bind & { readonly text: string };
  /** It cannot start. */
  readonly failed: { readonly lines: readonly string[]; readonly exitCode: number };
  /** An exception was not caught: it finishes what it answers, and ends. Another one may take its place at once. */
  readonly failing: undefined;
  /** Requests that are over. */
  readonly seen: readonly Noted[];
  readonly upload: { readonly id: string; readonly isRunning: boolean };
  /** Places that are given back, in all or of one client. */
  readonly back: { readonly client: string | undefined; readonly count: number };
  readonly generate: {
    readonly id: number;
    readonly settings: SchedulerSettings;
    readonly modelPath: string;
    readonly task: Task;
  };
  /** Nobody waits any more for what was asked of the embedded model. */
  readonly giveUp: number;

  // The primary tells a worker.

  readonly begin: Beginning;
  readonly stop: undefined;
  readonly generated: {
    readonly id: number;
    readonly batch?: Batch;
    readonly isOver?: boolean;
    readonly failure?: PlainError;
    readonly contextLength?: number | undefined;
  };
}

/** What a worker has to know before it serves. */
export interface Beginning {
  readonly config: Config;
  readonly notes: readonly string[];
  /** Four hexadecimal digits that stand in front of its ids. */
  readonly tag: string;
  /** Where the workers' private sockets are. */
  readonly folder: string;
  readonly workers: number;
  readonly local: readonly ProviderConfig[];
  /** Where its lines of the log go; by default to stderr. */
  readonly logDescriptor?: number;
}

/** What one worker, or the primary, did and the others have to take into account. */
export type News =
  | { readonly type: 'config'; readonly config: Config }
  | { readonly type: 'local'; readonly found: readonly ProviderConfig[] }
  /** Cookies were stored. */
  | { readonly type: 'cookies' }
  /** A kept file has come or gone, or is found by more words. */
  | { readonly type: 'media'; readonly change: MediaChange }
  /** A bucket is about to go: uploads into it are given up. */
  | { readonly type: 'bucket deleted'; readonly id: string }
  /** Somebody reads the records of usage: those that are noted are written first. */
  | { readonly type: 'usage wanted' };

/** What a worker saw, for the ledger of the primary: each is a call of the method of `Ledger` with this name. */
export type Noted =
  | { readonly type: 'count'; readonly seen: Seen }
  | { readonly type: 'add'; readonly seen: Seen; readonly isComplete: boolean }
  | { readonly type: 'keep'; readonly seen: Seen }
  | { readonly type: 'spent'; readonly seen: Seen; readonly cost: number | null };

/** What one worker is doing now, for the metrics of all. */
export interface WorkerPresent {
  readonly running: number;
  readonly streams: number;
  /** Metrics of its process, as text. */
  readonly process: string;
}
