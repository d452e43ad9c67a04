import { setTimeout as sleep } from 'node:timers/promises';
import { SluiceError } from '../core/errors.ts';
import { type PlainError, toError, toPlain } from './plain-error.ts';
import type { Asks, Tells } from './words.ts';

/** What goes over in one piece. Nothing here is JSON: maps and typed arrays arrive as such (`serialization: 'advanced'`). */
export type Message =
  | { readonly type: 'ask'; readonly id: number; readonly topic: string; readonly body: unknown }
  | { readonly type: 'answer'; readonly id: number; readonly body: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly failure: PlainError }
  | { readonly type: 'tell'; readonly topic: string; readonly body: unknown };

interface Waiting {
  readonly resolve: (body: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One end of the line between the primary and a worker. Questions get answers, news get none; what is said within one turn of
 * the event loop travels together, in the order in which it was said.
 */
export class Channel {
  readonly #send: (messages: readonly Message[]) => void;
  readonly #handlers = new Map<string, (body: never) => unknown>();
  readonly #waiting = new Map<number, Waiting>();
  #out: Message[] = [];
  #lastId = 0;
  #closed: Error | undefined;

  constructor(send: (messages: readonly Message[]) => void) {
    this.#send = send;
  }

  /** What is done when the other side asks or tells this. */
  on<Topic extends keyof Asks>(
    topic: Topic,
    handler: (body: Asks[Topic]['body']) => Asks[Topic]['answer'] | Promise<Asks[Topic]['answer']>,
  ): void;
  on<Topic extends keyof Tells>(topic: Topic, handler: (body: Tells[Topic]) => void): void;
  on(topic: string, handler: (body: never) => unknown): void {
    this.#handlers.set(topic, handler);
  }

  /** Rejects with the other side's error, or with `gone` once there is no other side. */
  ask<Topic extends keyof Asks>(topic: Topic, body: Asks[Topic]['body']): Promise<Asks[Topic]['answer']> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) throw this.#closed;
      this.#lastId += 1;
      this.#waiting.set(this.#lastId, { resolve, reject });
      this.#say({ type: 'ask', id: this.#lastId, topic, body });
    });
  }

  /**
   * The same for who does not wait for ever: undefined when there is no answer in time, or no other side.
   *
   * @param onFailure hears of an error of the other side's, in whatever time
   */
  async askBriefly<Topic extends keyof Asks>(
    topic: Topic,
    body: Asks[Topic]['body'],
    milliseconds: number,
    onFailure: (error: Error) => void = () => {},
  ): Promise<Asks[Topic]['answer'] | undefined> {
    const late = new AbortController();
    const answer = this.ask(topic, body).catch((error: Error) => {
      if (this.#closed === undefined) onFailure(error);
      return undefined;
    });
    const timer = sleep(milliseconds, undefined, { signal: late.signal, ref: false }).catch(() => undefined);
    const found = await Promise.race([answer, timer]);
    late.abort();
    return found;
  }

  tell<Topic extends keyof Tells>(topic: Topic, body: Tells[Topic]): void {
    if (this.#closed === undefined) this.#say({ type: 'tell', topic, body });
  }

  receive(messages: readonly Message[]): void {
    for (const message of messages) this.#take(message);
  }

  /** The other side is gone. */
  close(): void {
    this.#closed ??= new SluiceError('shutting_down', 'The processes of Sluice have lost each other.', {
      retryAfter: 1,
    });
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(this.#closed);
  }

  /** Sends what waits for the end of this turn. */
  flush(): void {
    const messages = this.#out;
    this.#out = [];
    if (messages.length > 0 && this.#closed === undefined) this.#send(messages);
  }

  #say(message: Message): void {
    if (this.#out.length === 0) setImmediate(() => this.flush());
    this.#out.push(message);
  }

  #take(message: Message): void {
    if (message.type === 'ask' || message.type === 'tell') {
      // After whoever waits for an answer that came before it.
      void Promise.resolve().then(() => this.#hear(message));
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === 'answer') waiting?.resolve(message.body as never);
    else waiting?.reject(toError(message.failure));
  }

  #hear(message: Extract<Message, { topic: string }>): unknown {
    if (message.type === 'ask') return this.#reply(message.id, message.topic, message.body);
    return this.#handlers.get(message.topic)?.(message.body as never);
  }

  async #reply(id: number, topic: string, body: unknown): Promise<void> {
    try {
      const handler = this.#handlers.get(topic);
      if (handler === undefined) throw new Error(`nobody answers '${topic}'`);
      const answer = await handler(body as never);
      if (this.#closed === undefined) this.#say({ type: 'answer', id, body: answer });
    } catch (error) {
      if (this.#closed === undefined) this.#say({ type: 'failure', id, failure: toPlain(error) });
    }
  }
}
