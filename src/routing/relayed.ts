import type { IncomingHttpHeaders } from 'node:http';
import type { AnsweredAs, Batch, Usage } from '../core/chunk.ts';
import type { SluiceError } from '../core/errors.ts';
import type { Pieces } from '../core/pieces.ts';

/** A request whose bytes are passed through. */
export interface RelayRequest {
  readonly endpoint: string;
  /** What the upstream gets, with its own name for the model. */
  readonly body: Pieces;
  readonly stream: boolean;
  /** The client asked for usage in a chunk of its own. */
  readonly wantsUsage: boolean;
  /** How many choices were asked for. */
  readonly choices: number;
  /** A whole answer shall be JSON and nothing else. */
  readonly wantsJson: boolean;
  /** For an estimate where the upstream counts nothing. */
  readonly promptTokens: number;
}

/** Who takes the bytes of a relayed stream. */
export interface RelaySink {
  /** Returns false when the client is slower than the upstream; `resume` of the stream is called once it has caught up. */
  write(latin1: string): boolean;
  end(): void;
  fail(error: SluiceError): void;
}

/** What an answer said of itself by its end. */
export interface Summary {
  readonly usage: Usage | undefined;
  readonly finish: string | undefined;
  readonly answeredAs: AnsweredAs | undefined;
}

/** A stream of which something visible is there; the rest flows once a sink is attached. */
export interface RelayedStream {
  readonly kind: 'stream';
  readonly headers: IncomingHttpHeaders;
  /** Whether all of the request is sent, so that nobody looks at its bytes any more. An upstream may answer before it has read it. */
  readonly isSent: boolean;
  attach(sink: RelaySink): void;
  resume(): void;
  /** Known after the end. */
  summary(): Summary;
}

/** A whole answer. */
export interface RelayedBody {
  readonly kind: 'body';
  /** As in `RelayedStream`: what an upstream has not read by the end of its answer, it does not get. */
  readonly isSent: true;
  readonly headers: IncomingHttpHeaders;
  readonly pieces: Pieces;
  readonly usage: Usage | undefined;
  /** Tells that the pieces are sent: from now on their memory may hold something else. Whoever does not know says nothing. */
  release(): void;
}

/** The upstream answered in the other form (a stream where none was asked for, or the reverse), so it had to be decoded. */
export interface RelayedChunks {
  readonly kind: 'decoded';
  readonly headers: IncomingHttpHeaders;
  readonly batch: Batch;
}

/** In which form the answer of a relay came. */
export type Relayed = RelayedStream | RelayedBody | RelayedChunks;
