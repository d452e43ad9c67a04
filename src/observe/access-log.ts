import type { Logger } from '../core/logger.ts';
import type { AccessLogMode } from './config.ts';
import type { Observation } from './observation.ts';
import { isFailure } from './request-log.ts';

/** One line for a finished request: who, what, how long; no content, no names of users, no words of upstreams. */
export function logLine(observation: Observation, mode: AccessLogMode, log: Logger): void {
  if (mode === 'none' || (mode === 'errors' && !isFailure(observation))) return;
  const { id, method, route, dialect, operation, provider, model, status, error, attempts, usage, cost } = observation;
  log.info(
    {
      id,
      method,
      route,
      dialect,
      operation,
      provider,
      model,
      status,
      code: error?.code,
      stream: observation.stream,
      ms: rounded(observation.duration),
      firstChunkMs: rounded(observation.firstChunk),
      promptTokens: usage?.promptTokens,
      completionTokens: usage?.completionTokens,
      cost: cost ?? undefined,
      attempts,
      failed: observation.failures.map((failure) => `${failure.provider}:${failure.code}`),
    },
    'request',
  );
}

/** To a tenth of a millisecond. */
export function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 10) / 10;
}
