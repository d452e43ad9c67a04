/** What is killed: a process that keeps things. The stores alone, or the whole gateway over HTTP. */
export interface Subject<R extends Running = Running> {
  /** The longest life of a process under load, in milliseconds. */
  readonly longestLifeMs: number;
  /** The longest rest of an actor between two writes, in milliseconds. */
  readonly longestRestMs: number;
  /** Starts it on the same data as before; resolves once it has answered something from its storage. */
  start(): Promise<R>;
  /** One writer of each kind; what they write carries `id`, which nobody else has. */
  actors(id: string): readonly Actor<R>[];
  /** Names of half-written things that an earlier process left behind, and that a start has to remove. */
  leftovers(): readonly string[];
  /** Looks at the data as a whole, after a restart. */
  inspect?(running: R): Promise<Inspection>;
}

/** A process that runs. Whatever is asked of it rejects once it is dead. */
export interface Running {
  /** From the start of the process to its first answer. */
  readonly readyMs: number;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/**
 * Each actor writes one thing after the other and notes what was acknowledged. When the process dies, one write of each
 * may be under way: it may have happened, or not, but nothing in between.
 */
export interface Actor<in R extends Running> {
  /** What it writes. */
  readonly kind: 'chats' | 'memory' | 'uploads' | 'files' | 'usage' | 'log' | 'conversations';
  /** Writes one thing; rejects when the process dies meanwhile. A promise that is fulfilled is an acknowledgement. */
  write(running: R): Promise<void>;
  /** Compares what is there with what was promised, and takes it for the state from now on. */
  verify(running: R): Promise<readonly Finding[]>;
  /** Writes that were acknowledged so far. */
  readonly acknowledged: number;
}

/** `lost`: promised, but not there (or deleted, and back again). `torn`: there, but not whole. */
export interface Finding {
  readonly kind: 'lost' | 'torn';
  readonly what: string;
}

/** What is found in a gateway's folder, and by asking it, that is no single actor's business. */
export interface Inspection {
  readonly findings: readonly Finding[];
  /** Files that no record knows: nobody can ask for them, they only take up room. */
  readonly strays: number;
}

/** What memory actors need. */
export interface Remembering extends Running {
  addMemory(user: string, texts: readonly string[]): Promise<void>;
  /** Texts of a user's items; with words, of those that a search for them finds. */
  memory(user: string, words?: string): Promise<readonly string[]>;
}

/** Something that tells by itself whether it is whole. */
export interface Content {
  readonly revision: number;
  readonly filler: string;
  /** SHA-256 of revision and filler. */
  readonly digest: string;
}
