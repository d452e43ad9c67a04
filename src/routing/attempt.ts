import { setTimeout as sleep } from 'node:timers/promises';
import type { Limits } from '../config/config.ts';
import type { Call } from '../core/call.ts';
import { type ErrorOptions, SluiceError, toSluiceError } from '../core/errors.ts';
import type { Health } from './health.ts';
import type { Target } from './select.ts';

/** First wait before the same target is tried again, in milliseconds; it doubles each round. */
const FIRST_WAIT_MS = 150;

/** An answer that has begun, and what it took. */
export interface Attempted<T> {
  readonly target: Target;
  readonly value: T;
  readonly attempts: number;
}

/**
 * Tries targets in order until `open` has reached the first visible chunk of one. What it does with a failure depends on
 * the error: a request that is wrong anywhere ends at once, a target that cannot serve it makes place for the next one, and
 * one that may serve it soon is tried again after a wait with jitter, never before its Retry-After.
 */
export async function attempt<T>(
  targets: readonly Target[],
  call: Call,
  limits: Pick<Limits, 'attempts' | 'retryWaitMs'>,
  health: Health,
  open: (target: Target) => Promise<T>,
): Promise<Attempted<T>> {
  let attempts = 0;
  let waited = 0;
  let candidates = health.order(targets);
  /** Those that may be tried again, and when, on the clock of `performance.now()`. */
  let resting: { readonly target: Target; readonly until: number }[] = [];
  for (let round = 0; ; round += 1) {
    let last: SluiceError | undefined;
    for (const target of candidates) {
      attempts += 1;
      const began = performance.now();
      try {
        // Before the first one too: looking for targets and making the question ready may have taken long.
        if (call.cancelled !== undefined) throw call.cancelled;
        const value = await open(target);
        health.succeeded(target);
        health.answered(target, performance.now() - began);
        if (attempts > 1) {
          const { provider, model } = target;
          call.log.info({ id: call.id, provider: provider.id, model, attempts }, 'answered after failures');
        }
        return { target, value, attempts };
      } catch (thrown) {
        last = failureOf(target, thrown, call, health);
        if (attempts >= limits.attempts) throw last;
        const wait = waitBefore(last, round);
        if (wait !== undefined) resting.push({ target, until: performance.now() + wait });
      }
    }
    if (last === undefined) throw new Error('no target to try');
    if (resting.length === 0) throw last;
    const next = Math.min(...resting.map(({ until }) => until));
    const wait = Math.max(0, next - performance.now());
    if (waited + wait > limits.retryWaitMs) throw last;
    waited += wait;
    await pause(wait, call, last.options);
    // Timers may be early by a moment.
    const now = Math.max(next, performance.now());
    candidates = resting.filter(({ until }) => until <= now).map(({ target }) => target);
    resting = resting.filter(({ until }) => until > now);
  }
}

/** Notes why a target failed. Throws what no other target would do better. */
function failureOf(target: Target, thrown: unknown, call: Call, health: Health): SluiceError {
  const { provider, model, key } = target;
  if (call.cancelled !== undefined) throw reasonOf(call.cancelled, { provider: provider.id, model });
  const failure = toSluiceError(thrown).from(provider.id, model);
  const { code, status } = failure;
  // Not an upstream's failure, but ours: the client is told no more than that it is in the log.
  if (code === 'internal' || code === 'storage_failed')
    call.log.error({ id: call.id, error: thrown }, 'a provider failed unexpectedly');
  if (isFinal(failure)) throw failure;
  if (isTransient(failure) || (key !== undefined && isKeysFault(failure))) health.failed(target, failure);
  // Without the upstream's own words, which may quote anything.
  call.log.info({ id: call.id, provider: provider.id, model, code, status }, 'attempt failed');
  return failure;
}

/** Wrong wherever it is sent, or with us. */
function isFinal(error: SluiceError): boolean {
  switch (error.code) {
    case 'invalid_request':
    case 'too_large':
    case 'internal':
    case 'storage_failed':
      return true;
    default:
      return false;
  }
}

/** Says something about the target's state rather than about the request, which it may never be able to serve. */
function isTransient(error: SluiceError): boolean {
  return (
    (error.status >= 500 && error.code !== 'not_supported') ||
    error.code === 'rate_limited' ||
    error.code === 'insufficient_quota'
  );
}

/** One of several keys is refused. */
function isKeysFault(error: SluiceError): boolean {
  return error.status === 401 || error.status === 403;
}

/** Milliseconds before the same target may be tried again; undefined: it is not worth it. */
function waitBefore(error: SluiceError, round: number): number | undefined {
  const { retryAfter } = error.options;
  const own = FIRST_WAIT_MS * 2 ** round * (0.5 + Math.random() / 2);
  // "At once", and a date that has passed by our clock, are no reason to ask three times in a row.
  if (retryAfter !== undefined && error.status !== 401) return Math.max(own, retryAfter * 1_000);
  switch (error.code) {
    case 'upstream_unreachable':
    case 'upstream_cut':
    case 'upstream_failed':
    case 'provider_failed':
    case 'overloaded':
      return own;
    default:
      return undefined;
  }
}

async function pause(milliseconds: number, call: Call, last: Place): Promise<void> {
  try {
    await sleep(milliseconds, undefined, { signal: call.signal });
  } catch {
    throw reasonOf(call.cancelled, last);
  }
}

type Place = Pick<ErrorOptions, 'provider' | 'model'>;

/** Why a call was cancelled. That its time is over is a failure of the provider that was being asked; nothing else is. */
function reasonOf(cancelled: Error | undefined, { provider = '', model = '' }: Place): Error | undefined {
  if (!(cancelled instanceof SluiceError) || cancelled.code !== 'upstream_timeout') return cancelled;
  return cancelled.from(provider, model);
}
