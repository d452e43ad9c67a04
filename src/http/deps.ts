import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Config } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import type { Deadlines } from '../routing/deadlines.ts';
import type { Router } from '../routing/router.ts';
import type { Calls } from './edge/calls.ts';
import type { Secrets } from './edge/secrets.ts';
import type { Heartbeats } from './sse.ts';

/** What handlers work with. `config` is a function, since the file may change while we run. */
export interface Deps {
  readonly config: () => Config;
  readonly router: Router;
  readonly deadlines: Deadlines;
  readonly heartbeats: Heartbeats;
  readonly calls: Calls;
  readonly secrets: Secrets;
  readonly log: Logger;
  /** Sluice's own version, from package.json. */
  readonly version: string;
}

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** One row of a route table. Serving and documenting read the same row. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In the router's spelling: `/v1/models/*`, `/api/:provider/models`. */
  readonly url: string;
  /** One line for the API's documents. */
  readonly summary: string;
  readonly tag: string;
  /** What the body must look like; the handler validates it. */
  readonly body?: z.ZodType;
  /** Whether `body` may also come as the part `json` of a multipart form. */
  readonly multipart?: boolean;
  readonly query?: z.ZodObject;
  /** What the answer looks like. */
  readonly answer?: z.ZodType;
  /** Content types of the answer; default JSON. */
  readonly produces?: readonly string[];
  readonly handler: Handler;
}
