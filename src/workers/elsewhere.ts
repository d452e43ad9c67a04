import { existsSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../core/errors.ts';
import { createServer, request } from '../core/node-http.ts';
import type { Elsewhere } from '../http/deps.ts';
import type { JsonBody } from '../http/edge/json-body.ts';
import { tagOfResponse } from '../http/responses/ids.ts';
import type { Channel } from './channel.ts';
import { socketOf } from './socket-folder.ts';
import { watchOver } from './watch-over.ts';

/** Carries the address of the client to the worker that answers. Only the private sockets look at it. */
const CLIENT = 'x-sluice-forwarded-client';

/** Room for that header beside those of the client. */
const OWN_HEADER_BYTES = 1_024;

/** Headers that speak of one connection, and not of the message (RFC 9110 §7.6.1). */
const OF_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade', CLIENT]);

/** The body has come, and goes as a whole. */
const OF_QUESTION: ReadonlySet<string> = new Set([...OF_CONNECTION, 'expect', 'transfer-encoding', 'content-length']);

/** Node frames an answer anew: the client may speak HTTP/1.0, which knows no chunks (RFC 9112 §6.1). */
const OF_ANSWER: ReadonlySet<string> = new Set([...OF_CONNECTION, 'transfer-encoding']);

/**
 * The other workers. What is in the memory of one of them only is asked of that one, over its private socket, byte for byte: the
 * request was let in here, and is looked at there once more, as if it had come from the client itself.
 */
export class OtherWorkers implements Elsewhere {
  readonly #tag: string;
  readonly #folder: string;
  readonly #primary: Channel;
  readonly #arrived = new WeakSet<IncomingMessage>();
  #server: Server | undefined;

  constructor(tag: string, folder: string, primary: Channel) {
    this.#tag = tag;
    this.#folder = folder;
    this.#primary = primary;
  }

  /** Answers on the private socket what others pass on. */
  async listen(app: FastifyInstance, headerBytes: number): Promise<void> {
    const maxHeaderSize = headerBytes + OWN_HEADER_BYTES;
    const server = createServer(
      { requireHostHeader: false, requestTimeout: 0, maxHeaderSize },
      (incoming, response) => {
        this.#arrived.add(incoming);
        const address = incoming.headers[CLIENT];
        Object.defineProperty(incoming.socket, 'remoteAddress', { value: address, configurable: true });
        delete incoming.headers[CLIENT];
        app.routing(incoming, response);
      },
    );
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // Exclusive: this one is not for the cluster to share.
      server.listen({ path: socketOf(this.#folder, this.#tag), exclusive: true }, resolve);
    });
  }

  close(): void {
    this.#server?.close();
  }

  uploading(bucket: string): Promise<string | undefined> {
    return this.#primary.ask('uploading', bucket).catch(() => undefined);
  }

  answers(): Promise<ReadonlyMap<string, number> | undefined> {
    return this.#primary.ask('answers.all', undefined).catch(() => undefined);
  }

  has(responseId: string): boolean {
    const tag = tagOfResponse(responseId);
    return tag !== undefined && tag !== this.#tag && this.#lives(tag);
  }

  async ask(incoming: FastifyRequest, reply: FastifyReply): Promise<(() => void) | undefined> {
    const ownerOf = incoming.route?.ownerOf;
    if (ownerOf === undefined || this.#arrived.has(incoming.raw)) return undefined;
    const tag = await ownerOf(incoming, this);
    if (tag === undefined || tag === this.#tag || !this.#lives(tag)) return undefined;
    // The client may have left meanwhile: it has no address any more, and nobody would notice when to give up.
    if (reply.raw.destroyed) return undefined;
    return this.#pass(incoming, reply, socketOf(this.#folder, tag));
  }

  #lives(tag: string): boolean {
    return process.platform === 'win32' || existsSync(socketOf(this.#folder, tag));
  }

  /**
   * Nothing comes back when that worker has ended: then there is no such thing any more, and this one says so. One that hangs may
   * still have it.
   */
  #pass(incoming: FastifyRequest, reply: FastifyReply, socketPath: string): Promise<(() => void) | undefined> {
    const { raw: from, ip } = incoming;
    const { raw: to } = reply;
    const body = bytesOf(incoming.body);
    const length = ['content-length', String(body?.length ?? 0)];
    return new Promise((resolve, reject) => {
      const passed = request({
        socketPath,
        method: from.method,
        path: from.url,
        headers: [...without(OF_QUESTION, from.rawHeaders), ...length, CLIENT, ip],
        agent: false,
      });
      const endWatch = watchOver(socketPath, { host: 'localhost', [CLIENT]: ip }, () => {
        reject(new SluiceError('overloaded', 'The process that has this does not respond.', { retryAfter: 5 }));
        passed.destroy();
      });
      passed.on('close', endWatch);
      passed.on('response', (answer) => {
        endWatch();
        answer.on('error', () => to.destroy());
        resolve(() => {
          reply.hijack();
          send(answer, to);
        });
      });
      passed.on('error', () => {
        if (to.headersSent) to.destroy();
        else resolve(undefined);
      });
      to.once('close', () => passed.destroy());
      passed.end(body);
    });
  }
}

/** What was read of a request. */
function bytesOf(body: unknown): Buffer | undefined {
  return Buffer.isBuffer(body) ? body : (body as JsonBody | undefined)?.bytes;
}

function send(answer: IncomingMessage, to: ServerResponse): void {
  to.writeHead(answer.statusCode ?? 502, answer.statusMessage, without(OF_ANSWER, answer.rawHeaders));
  to.flushHeaders();
  answer.pipe(to);
}

function without(names: ReadonlySet<string>, raw: readonly string[]): string[] {
  const headers: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2);
    if (!names.has(name.toLowerCase())) headers.push(name, value);
  }
  return headers;
}
