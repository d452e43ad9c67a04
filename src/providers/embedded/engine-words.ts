import { basename } from 'node:path';
import type { Chunk, Usage } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import { missingEngine } from './engine-process.ts';
import type { Failure, TaskUsage } from './protocol.ts';

/** The engine's words in the gateway's vocabulary. */

/** A piece of text that the engine made. */
export function toChunk(kind: 'content' | 'reasoning', text: string): Chunk {
  return kind === 'content' ? { type: 'content', content: text } : { type: 'reasoning', reasoning: text };
}

/** Counted by the engine itself, so it is never an estimate. */
export function toUsage({ prompt, cached, completion, reasoning }: TaskUsage): Usage {
  return {
    promptTokens: prompt,
    completionTokens: completion,
    totalTokens: prompt + completion,
    cachedTokens: cached,
    ...(reasoning === 0 ? {} : { reasoningTokens: reasoning }),
  };
}

/** What is for the log only (`reason`) stays behind. */
export function toError({ code, message, param }: Failure): SluiceError {
  return new SluiceError(code, message, param === undefined ? {} : { param });
}

/** For all requests that were running in it. */
export function crashed(): SluiceError {
  const message = 'The embedded engine stopped while it answered; it starts again with the next request.';
  return new SluiceError('provider_failed', message);
}

/** Trying again would load the same file again. */
export function cannotLoad(modelPath: string): SluiceError {
  const missing = missingEngine();
  if (missing !== undefined) return missing;
  const file = `'${basename(modelPath)}'`;
  const causes = `${file} is damaged, of an unknown kind or too large for the memory, or this platform has no engine`;
  const message = `The embedded model cannot be loaded: ${causes}. The log has the details.`;
  return new SluiceError('model_unusable', message);
}

/** 503: as many wait already as may. */
export function tooManyWait(waiting: number): SluiceError {
  const message = `Already ${waiting} requests wait for the embedded model.`;
  return new SluiceError('overloaded', message, { retryAfter: 10 });
}
