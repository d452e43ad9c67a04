import type { Config } from '../../config/config.ts';
import { describeEmbedded } from '../../providers/embedded/describe.ts';
import { type Finding, good, note } from './finding.ts';
import type { Offered } from './providers.ts';

/** The model inside Sluice: whether its weights are there. Loads nothing. */
export async function examineEmbedded({
  embedded,
  dataDir,
}: Config): Promise<{ findings: Finding[]; offered: Offered[] }> {
  if (!embedded.enabled) return { findings: [good('switched off by embedded.enabled')], offered: [] };
  const { bundled, models, lines } = await describeEmbedded({ config: embedded, dataDir });
  const [state = '', ...others] = lines;
  const first =
    bundled === 'missing' && models.length === 0
      ? note(state, 'run "npm ci" with optional packages to get it')
      : good(state);
  return {
    findings: [first, ...others.map((line) => good(line))],
    offered: [{ id: 'embedded', models, isKnown: true }],
  };
}
