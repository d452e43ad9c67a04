import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Buckets } from '../buckets/buckets.ts';
import type { Config, Limits } from '../config/config.ts';
import type { CookieStore } from '../cookies/jar.ts';
import type { SluiceError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Secrets } from '../core/secrets.ts';
import type { Stores } from '../core/stores.ts';
import type { Converter } from '../documents/converter.ts';
import type { MediaStore } from '../media/store.ts';
import type { RouteKind } from '../observe/observation.ts';
import type { Observer } from '../observe/observer.ts';
import type { Prices } from '../observe/prices.ts';
import type { GuardedFetch } from '../outbound/guarded-fetch.ts';
import type { Pages } from '../outbound/pages.ts';
import type { Deadlines } from '../routing/deadlines.ts';
import type { Router } from '../routing/router.ts';
import type { WebSearch } from '../search/search.ts';
import type { KeptAnswers } from '../streams/kept-answers.ts';
import type { ResumableUploads } from '../uploads/resumable.ts';
import type { Uploads } from '../uploads/uploads.ts';
import type { Calls } from './edge/calls.ts';
import type { Turns } from './edge/turns.ts';
import type { Heartbeats } from './sse.ts';

/** What handlers work with. `config` is a function, since the file may change while we run. */
export interface Deps {
  readonly config: () => Config;
  readonly router: Router;
  readonly deadlines: Deadlines;
  readonly heartbeats: Heartbeats;
  /** Large bodies and forms are read in turns. */
  readonly turns: Turns;
  readonly calls: Calls;
  /** The answers that can be read again. */
  readonly answers: KeptAnswers;
  /** Stands in front of ids by which this process is found among those that serve together; else empty. */
  readonly tag: string;
  /** The other processes that serve the same port, where there are any. */
  readonly elsewhere: Elsewhere | undefined;
  readonly observer: Observer;
  readonly prices: Pick<Prices, 'cost'>;
  /** Writes the usage of all answers that have ended, here and elsewhere: it waits for more of it otherwise. */
  readonly writeUsage: () => Promise<void>;
  readonly secrets: Secrets;
  readonly stores: Stores;
  readonly buckets: Buckets;
  readonly uploads: Uploads;
  readonly resumable: ResumableUploads;
  readonly converter: Converter;
  /** For addresses that come with a request. */
  readonly fetch: GuardedFetch;
  readonly pages: Pick<Pages, 'textOf'>;
  readonly media: MediaStore;
  readonly search: WebSearch;
  readonly cookies: CookieStore;
  /** The domains whose cookies some provider asks for. */
  readonly cookieDomains: () => readonly string[];
  /** Cookies have changed: providers and the mask of secrets have to know. */
  readonly onCookies: () => Promise<void>;
  readonly log: Logger;
  /** Sluice's own version, from package.json. */
  readonly version: string;
}

/** The processes beside this one. */
export interface Elsewhere {
  /** Asks another process what only that one can answer. Returns what sends its answer on; undefined: there is none. */
  ask(request: FastifyRequest, reply: FastifyReply): Promise<(() => void) | undefined>;
  /** The tag of the process that takes an upload into a bucket. */
  uploading(bucket: string): Promise<string | undefined>;
  /** How often each provider has answered in all processes, this one included; undefined: nobody knows. */
  answers(): Promise<ReadonlyMap<string, number> | undefined>;
  /** Whether an answer of the Responses API belongs to another process that runs. */
  has(responseId: string): boolean;
}

/** What it resolves with is sent, unless it has answered by `reply` itself. */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** What serving a route takes. */
export interface PlainRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In the router's spelling: `/v1/models/*`, `/api/:provider/models`. */
  readonly url: string;
  /** The parts of a multipart form, as JSON Schema, where one may, or has to, be sent. The handler reads it. */
  readonly form?: Readonly<Record<string, unknown>> & { readonly required: readonly string[] };
  /** Bytes that a JSON body may have, where it is not `limits.bodyBytes`. */
  readonly bodyLimit?: (limits: Limits, request: FastifyRequest) => number;
  /** Its handler can do with the outline of a long chat: `JsonBody.outlined`. */
  readonly outlines?: true;
  /** The body is taken as it is, whatever its type: `request.body` is a Buffer. */
  readonly takesBytes?: true;
  /** A POST that may come without a body: its path says all there has to be said. */
  readonly hasNoBody?: true;
  /** Answering costs something, so HEAD, which would do the work and throw it away, is not served. */
  readonly isCostly?: true;
  /** The body is JSON whatever its sender calls it (`curl -d`: a form; `fetch`: a plain text), or does not call it. */
  readonly anyType?: true;
  /** What is asked of models here; absent: nothing. */
  readonly kind?: RouteKind | ((request: FastifyRequest) => RouteKind | undefined);
  /** For everybody, without a key, and in every state of the server: for whoever starts and watches processes. */
  readonly isOpen?: true;
  /** Why nobody answers here although the pattern fits; undefined: somebody does. Whatever the body holds, it is not read then. */
  readonly refusal?: (request: FastifyRequest, reply: FastifyReply) => SluiceError | undefined;
  /** A file of the page, if there is one of that name; else there is nothing, under no method. */
  readonly isPage?: true;
  /** The tag of the process that alone can answer, where what is asked for is in its memory; undefined: any can. */
  readonly ownerOf?: OwnerOf;
  /** Errors in the dialect's own form, where it has one. They hold `error.message` and `error.code` in any form. */
  readonly errorBody?: ErrorBody;
  /** The status of an error, where the dialect has others than the catalogue. */
  readonly errorStatus?: (error: SluiceError) => number;
  readonly handler: Handler;
}

/** The tag of the process that alone can answer; undefined: any can. */
export type OwnerOf = (
  request: FastifyRequest,
  elsewhere: Elsewhere,
) => string | undefined | Promise<string | undefined>;

/** An error in a dialect's own form. */
export type ErrorBody = (error: SluiceError, request: FastifyRequest) => Record<string, unknown>;

/** One row of a route table. Serving and documenting read the same row. */
export interface Route extends PlainRoute {
  /** One line for the API's documents. */
  readonly summary: string;
  readonly tag: string;
  /** What the body must look like; the handler validates it. */
  readonly body?: z.ZodType;
  /** The same of the query: `validateQuery`. */
  readonly query?: z.ZodObject;
  /** Headers that say what is wanted, by their names. The handler reads them. */
  readonly headers?: z.ZodObject;
  /** What the answer looks like. */
  readonly answer?: z.ZodType;
  /** Headers of the answer that are part of it, by their names. */
  readonly answerHeaders?: z.ZodObject;
  /** What errors look like, where the dialect has a form of its own (`errorBody`). */
  readonly error?: z.ZodType;
  /** Content types of the answer; default JSON. */
  readonly produces?: readonly string[];
  /**
   * Statuses of the answer, where they are not 200 alone. A 302 leads to another path of this server, without a body; a 304 has none
   * either, and a 206 is a part of the file.
   */
  readonly statuses?: readonly (200 | 206 | 302 | 304 | 503)[];
}
