import type { ServerResponse } from 'node:http';
import type { VendorRequest } from './vendor-script.ts';

/** A request that arrived, and what became of its answer. */
export interface SeenRequest extends VendorRequest {
  readonly rawBody: Buffer;
  /** Requests that the same connection brought before this one. */
  readonly before: number;
  /** Settles when the answer is over: `finished` when all of it went out, `aborted` when the client closed first. */
  readonly closed: Promise<'finished' | 'aborted'>;
}

/** Full control over the answer to one request. */
export type Handler = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;
