import { SluiceError } from '../core/errors.ts';
import type { Model } from '../core/model.ts';
import type { Provider } from '../core/provider.ts';
import { unlessAborted } from '../core/unless-aborted.ts';
import { explainFailure } from './failure.ts';

/** What a provider said when it was asked for its models. */
export interface Asked {
  readonly provider: Provider;
  readonly models: readonly Model[];
  readonly error?: SluiceError;
}

/** Asks a provider for its models. Never throws, and never takes longer than `timeoutMs`. */
export async function askForModels(provider: Provider, timeoutMs: number): Promise<Asked> {
  const controller = new AbortController();
  const { signal } = controller;
  const timer = setTimeout(() => {
    controller.abort(new SluiceError('upstream_timeout', `no answer within ${timeoutMs / 1_000} seconds`));
  }, timeoutMs);
  try {
    return { provider, models: await unlessAborted(provider.models({}, signal), signal) };
  } catch (error) {
    return { provider, models: [], error: error instanceof SluiceError ? error : unexpected(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** With its own words: a command has no log to look them up in. */
function unexpected(error: unknown): SluiceError {
  return new SluiceError('internal', explainFailure(error).lines.join(' '), { cause: error });
}
