/** What is killed: a process that keeps things. The stores alone, or the whole gateway over HTTP. */
export interface Subject {
  /** Starts it on the same data as before; resolves once it has answered something from its storage. */
  start(): Promise<Running>;
  /** Names of half-written things that an earlier process left behind. */
  leftovers(): readonly string[];
}

/** A promise that is fulfilled is an acknowledgement. All reject once the process is dead. */
export interface Running {
  /** From the start of the process to its first answer. */
  readonly readyMs: number;
  putChat(id: string, body: Content): Promise<void>;
  getChat(id: string): Promise<Content | undefined>;
  addMemory(user: string, texts: readonly string[]): Promise<void>;
  /** Texts of a user's items; with words, of those that a search for them finds. */
  memory(user: string, words?: string): Promise<readonly string[]>;
  writeFile(bucket: string, name: string, text: string): Promise<void>;
  /** Everything that is listed in a bucket, by name, with what is read from it. */
  files(bucket: string): Promise<ReadonlyMap<string, string>>;
  deleteBucket(bucket: string): Promise<void>;
  addUsage(user: string): Promise<void>;
  /** How many records a user has: one by one, and by the sums. */
  usage(user: string): Promise<{ readonly records: number; readonly summed: number }>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** Something that tells by itself whether it is whole. */
export interface Content {
  readonly revision: number;
  readonly filler: string;
  /** SHA-256 of revision and filler. */
  readonly digest: string;
}
