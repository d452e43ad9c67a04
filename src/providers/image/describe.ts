import type { ProviderConfig } from '../../config/config.ts';
import type { Credentials } from '../../core/call.ts';
import type { Model } from '../../core/model.ts';
import type { Provider } from '../../core/provider.ts';
import { aboutOf } from '../about.ts';
import { capabilitiesOf } from '../openai/capabilities.ts';

/** What a provider that only draws says about itself. `known` are its models where nobody is asked. */
export function describe(
  config: ProviderConfig,
  known: readonly Model[] | ((credentials: Credentials, signal: AbortSignal) => Promise<readonly Model[]>),
): Omit<Provider, 'image'> {
  return {
    ...aboutOf(config),
    async models(credentials, signal) {
      if (config.models !== undefined) return config.models.map((id) => drawing(id));
      return typeof known === 'function' ? known(credentials, signal) : known;
    },
  };
}

/** A model that makes pictures, or videos where its name says so. */
export function drawing(id: string): Model {
  return capabilitiesOf(id).type === 'video' ? { id, type: 'video', video: true } : { id, type: 'image', image: true };
}
