import type { Config } from '../../config/config.ts';
import type { Provider } from '../../core/provider.ts';
import { describeEmbedded } from '../../providers/embedded/describe.ts';
import { askForModels } from '../ask.ts';
import { type Finding, good, note } from './finding.ts';
import { type Examined, type Offered, TIMEOUT_MS } from './providers.ts';

/** What comes with Sluice, a model and a voice: whether the weights are there. Loads nothing. */
export async function examineEmbedded(
  { embedded, dataDir }: Config,
  providers: readonly Provider[],
): Promise<Examined> {
  if (!embedded.enabled) return { findings: [good('switched off by embedded.enabled')], offered: [] };
  const { bundled, models, lines } = await describeEmbedded({ config: embedded, dataDir });
  const [state = '', ...others] = lines;
  const first =
    bundled === 'missing' && models.length === 0
      ? note(state, 'run "npm ci" with optional packages to get it')
      : good(state);
  const asked = await Promise.all(providers.map((provider) => askForModels(provider, TIMEOUT_MS)));
  const offered = asked.map(({ provider, models: listed }): Offered => {
    return { provider, listed, models: listed.map(({ id }) => id), isAll: true };
  });
  return { findings: [first, ...others.map((line) => good(line)), ...voices(providers)], offered };
}

function voices(providers: readonly Provider[]): Finding[] {
  const speaking = providers.filter(({ chat, speech }) => chat === undefined && speech !== undefined);
  return speaking.map(({ id, label }) => good(`${label}, the provider "${id}", needs nothing.`));
}
