import type { Pieces } from '../core/pieces.ts';

/** One HTTP request to an upstream. */
export interface UpstreamRequest {
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | string | Pieces;
}
