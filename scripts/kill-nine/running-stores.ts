import type { Content, Remembering } from './subject.ts';

/** The ports, as far as the actors use them. */
export interface RunningStores extends Remembering {
  putChat(id: string, body: Content): Promise<void>;
  getChat(id: string): Promise<Content | undefined>;
  writeFile(bucket: string, name: string, text: string): Promise<void>;
  /** Everything that is listed in a bucket, by name, with what is read from it. */
  files(bucket: string): Promise<ReadonlyMap<string, string>>;
  deleteBucket(bucket: string): Promise<void>;
  addUsage(user: string): Promise<void>;
  /** How many records a user has: one by one, and by the sums. */
  usage(user: string): Promise<{ readonly records: number; readonly summed: number }>;
}
