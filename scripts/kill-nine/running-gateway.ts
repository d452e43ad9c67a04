import type { Content, Remembering } from './subject.ts';
import type { UploadedFile } from './uploads.ts';

/** Endpoints of the gateway, as far as the actors use them. */
export interface RunningGateway extends Remembering {
  /** Returns the owner's cookie, when the answer sets one. */
  putChat(id: string, body: Content, cookie: string | undefined): Promise<string | undefined>;
  getChat(id: string, cookie: string | undefined): Promise<Content | undefined>;
  /** All files in one form. */
  upload(bucket: string, files: readonly UploadedFile[]): Promise<void>;
  /** Its text, and the names of the media that its event stream tells of; both empty when there is no such bucket. */
  bucket(id: string): Promise<{ readonly text: string; readonly media: readonly string[] }>;
  /** Bytes of a bucket's media; undefined: not found. */
  media(bucket: string, form: 'media' | 'thumbnail', name: string): Promise<Buffer | undefined>;
  deleteBucket(id: string): Promise<void>;
  addUsage(user: string, record: Content): Promise<void>;
  usage(user: string): Promise<{ readonly records: readonly Content[]; readonly summed: number }>;
  addLog(user: string, record: Content): Promise<void>;
  /** Returns its id. */
  beginConversation(): Promise<string>;
  /** Adds messages to a conversation, in one call. */
  addItems(conversation: string, texts: readonly string[]): Promise<void>;
  /** The texts of its messages, in their order. */
  items(conversation: string): Promise<readonly string[]>;
  /** Status of a GET, whatever it is. */
  statusOf(address: string): Promise<number>;
}
