import { clientLeft, SluiceError } from './errors.ts';
import type { Logger } from './logger.ts';

/** Keys for one call, already resolved: from the client for this call only; absent, the provider's configured one counts. */
export interface Credentials {
  readonly apiKey?: string;
}

/** What travels down with a request. */
export interface Call {
  /** Request id; the client gets it back as `x-request-id`. */
  readonly id: string;
  /** Client left, deadline passed, shutdown: one signal, made when first asked for. */
  readonly signal: AbortSignal;
  /** Why the call was cancelled, if it was. */
  readonly cancelled: Error | undefined;
  /** Runs `listener` once when the call is cancelled (at once if it already is). Returns a function that takes it back. */
  onCancel(listener: (reason: Error) => void): () => void;
  readonly credentials: Credentials;
  /** Who asks, as a label for records. */
  readonly user: string;
  readonly log: Logger;
  /** What whoever watches requests notes of this one. Nobody else looks at it. */
  readonly watched: object | undefined;
  /**
   * Notes that a field of the request, in the client's own words, has no place at this provider. The client hears of it in
   * `x-sluice-dropped`; one that asked for `strict` gets a 400 instead, which this throws.
   *
   * @param why a sentence, where it is not the provider that has no place for it
   */
  drop(field: string, why?: string): void;
}

/** A call that its owner can cancel. */
export class CallScope implements Call {
  readonly id: string;
  readonly log: Logger;
  credentials: Credentials;
  user = 'unknown';
  watched: object | undefined;
  cancelled: Error | undefined;
  /** Whether a field that would be lost is an error. */
  strict = false;
  /** Requests of one session keep their target where targets take turns. */
  session: string | undefined;
  #dropped: Set<string> | undefined;
  /** A list, since there are two or three: a set costs more than all else here. */
  #listeners: ((reason: Error) => void)[] | undefined;
  #controller: AbortController | undefined;
  #unlink: (() => void) | undefined;

  constructor(id: string, log: Logger, credentials: Credentials = {}) {
    this.id = id;
    this.log = log;
    this.credentials = credentials;
  }

  /** A call that is cancelled with this one, and can be cancelled alone: one attempt of several. */
  fork(credentials: Credentials = this.credentials): CallScope {
    const child = new CallScope(this.id, this.log, credentials);
    child.user = this.user;
    child.watched = this.watched;
    child.strict = this.strict;
    child.session = this.session;
    child.#unlink = this.onCancel((reason) => child.cancel(reason));
    return child;
  }

  /** Most calls never need a signal: callbacks serve the hot path. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.cancelled !== undefined) this.#controller.abort(this.cancelled);
    }
    return this.#controller.signal;
  }

  /** The fields that were lost. */
  get dropped(): ReadonlySet<string> {
    return this.#dropped ?? NOTHING;
  }

  drop(field: string, why?: string): void {
    if (this.strict) {
      throw new SluiceError(
        'unsupported_field',
        why === undefined
          ? `This provider has no place for '${field}'. Leave it out, choose another provider, or do not ask for strict.`
          : `${why} Leave '${field}' out, or do not ask for strict.`,
        { param: field },
      );
    }
    this.#dropped ??= new Set();
    this.#dropped.add(field);
  }

  cancel(reason: Error = clientLeft()): void {
    if (this.cancelled !== undefined) return;
    this.cancelled = reason;
    this.release();
    this.#controller?.abort(reason);
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) listener(reason);
  }

  onCancel(listener: (reason: Error) => void): () => void {
    if (this.cancelled !== undefined) {
      listener(this.cancelled);
      return () => {};
    }
    if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
    return () => {
      const at = this.#listeners?.lastIndexOf(listener) ?? -1;
      if (at !== -1) this.#listeners?.splice(at, 1);
    };
  }

  /** Lets go of the parent call, which may live on. */
  release(): void {
    this.#unlink?.();
    this.#unlink = undefined;
  }
}

const NOTHING: ReadonlySet<string> = new Set();
