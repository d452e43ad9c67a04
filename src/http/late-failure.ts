import type { Call } from '../core/call.ts';
import { type SluiceError, toSluiceError } from '../core/errors.ts';
import { withoutSecrets } from '../core/secrets.ts';
import { Observation } from '../observe/observation.ts';
import type { Deps } from './deps.ts';

/** What fails once an answer has begun is logged, and noted of its request, whose status is 200. Returns what may be told of it. */
export function lateFailure(
  thrown: unknown,
  call: Call,
  deps: Pick<Deps, 'observer' | 'log' | 'secrets'>,
): SluiceError {
  const error = withoutSecrets(toSluiceError(thrown), deps.secrets);
  const { id, watched } = call;
  if (watched instanceof Observation) watched.failed(error);
  if (error.code === 'internal') deps.log.error({ id, error: thrown }, 'an answer failed unexpectedly');
  else deps.log.warn({ id, ...said(error, deps) }, 'an answer failed after it had begun');
  return error;
}

/** Words of upstreams may quote a prompt: they are logged only where contents are kept too. */
function said(error: SluiceError, { observer }: Pick<Deps, 'observer'>): object {
  const { code, status, message } = error;
  const { provider, model } = error.options;
  return { code, status, provider, model, ...(observer.mode === 'full' ? { error: message } : {}) };
}
