import type { Flags } from '../config/flags.ts';
import { loadConfig } from '../config/load.ts';
import type { Environment } from '../config/paths.ts';
import { maskOf, secretsIn, secretsOf } from '../config/secrets.ts';
import type { Model } from '../core/model.ts';
import { findLocal, openProviders } from './all-providers.ts';
import { type Asked, askForModels } from './ask.ts';
import { EXIT_FAILED } from './failure.ts';
import { forTerminal, table } from './table.ts';

const TIMEOUT_MS = 10_000;

/** What can be done with a model, in the order of the table. */
const ABILITIES = [
  'vision',
  'image',
  'audio',
  'video',
  'tools',
  'reasoning',
] as const satisfies readonly (keyof Model)[];

/** What a command prints, and how it ends. */
export interface Outcome {
  readonly output: string;
  /** For stderr. */
  readonly complaints: readonly string[];
  readonly exitCode: number;
}

/** `sluice models`: all models of all providers. Fails only when no provider could be asked. */
export async function listModels(
  flags: Flags,
  asJson: boolean,
  environment: Environment = process.env,
): Promise<Outcome> {
  const { config } = await loadConfig({ flags, environment });
  const { on: providers, close } = await openProviders(config, await findLocal(config));
  const asked = await Promise.all(providers.map((provider) => askForModels(provider, TIMEOUT_MS)));
  await close();

  const mask = maskOf([...secretsOf(config), ...secretsIn(environment)]);
  const failed = asked.filter(({ error }) => error !== undefined);
  const complaints = failed.map((each) => mask(complaintOf(each)));
  const output = asJson ? jsonOf(asked, mask) : textOf(asked);
  const isUseless = asked.length > 0 && failed.length === asked.length;
  return { output, complaints: asJson ? [] : complaints, exitCode: isUseless ? EXIT_FAILED : 0 };
}

function complaintOf({ provider, error }: Asked): string {
  return `${provider.id}: ${forTerminal(error?.message ?? '')} ("sluice doctor" says more)`;
}

function textOf(asked: readonly Asked[]): string {
  const rows = asked.flatMap(({ provider, models }) =>
    models.map((model) => [
      forTerminal(`${provider.id}/${model.id}`),
      kindOf(model),
      abilitiesOf(model),
      contextOf(model),
    ]),
  );
  if (rows.length === 0) return 'There are no models. "sluice doctor" says why, and what to do.\n';
  return `${table([['MODEL', 'KIND', 'ABILITIES', 'CONTEXT'], ...rows]).join('\n')}\n`;
}

function kindOf({ type }: Model): string {
  return type ?? 'chat';
}

function abilitiesOf(model: Model): string {
  return ABILITIES.filter((ability) => model[ability] === true).join(', ') || '-';
}

function contextOf({ contextLength }: Model): string {
  return contextLength === undefined ? '-' : String(contextLength);
}

function jsonOf(asked: readonly Asked[], mask: (text: string) => string): string {
  const models = asked.flatMap(({ provider, models }) =>
    models.map(({ vendor: _, ...model }) => ({ provider: provider.id, ...model })),
  );
  const failed = asked.flatMap(({ provider, error }) =>
    error === undefined ? [] : [{ provider: provider.id, code: error.code, message: mask(error.message) }],
  );
  return `${JSON.stringify({ models, failed }, null, 2)}\n`;
}
