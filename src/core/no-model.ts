import { SluiceError } from './errors.ts';
import type { Provider } from './provider.ts';

/** A request without a model, at a provider that has none to offer for it. */
export function noModel({ id, label }: Provider): SluiceError {
  return new SluiceError('model_not_found', `${label} lists no model for this; name one in the request.`, {
    param: 'model',
    provider: id,
  });
}
