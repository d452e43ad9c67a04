import type { Config } from '../../config/config.ts';
import { type Row, rows } from '../../config/rows.ts';
import { suggest } from '../../config/suggest.ts';
import { type Ability, isReady, type Provider } from '../../core/provider.ts';
import { Catalog } from '../../routing/catalog.ts';
import { select, type Target } from '../../routing/select.ts';
import { quiet } from '../all-providers.ts';
import { type Finding, good, note, wrong } from './finding.ts';
import { howToGiveKey, meant, type Offered } from './providers.ts';

/** What may be asked of a name, the most usual first. */
const ABILITIES: readonly Ability[] = ['chat', 'image', 'speech', 'transcribe', 'embed', 'moderate', 'rerank'];

/**
 * Whether the names in the configuration (aliases, default provider, default model) stand for something, by the rules of the
 * router. `waiting`: providers that are on for clients with a key.
 */
export async function examineNames(
  config: Config,
  offered: readonly Offered[],
  waiting: readonly Provider[],
): Promise<readonly Finding[]> {
  const catalog = new Catalog(quiet);
  catalog.use([...offered.map(asFound), ...waiting]);
  const names = { config, offered, catalog };
  const { aliases, defaultProvider, defaultModel } = config;
  const wanted = [...aliases].flatMap(([alias, targets]) =>
    targets.map((target) => targetFinding(`the alias "${alias}"`, `aliases.${alias}`, target, names)),
  );
  const findings = await Promise.all(wanted);
  if (defaultProvider !== undefined) findings.push(providerFinding(defaultProvider, names));
  if (defaultModel !== undefined) {
    const isAlias = aliases.has(defaultModel);
    if (isAlias) findings.push(good(`the default model is the alias "${defaultModel}"`));
    else findings.push(await targetFinding('the default model', 'defaultModel', defaultModel, names));
  }
  return findings;
}

interface Names {
  readonly config: Config;
  readonly offered: readonly Offered[];
  readonly catalog: Catalog;
}

/** A provider that lists at once what was found out. */
function asFound({ provider, listed }: Offered): Provider {
  const models = async () => listed ?? Promise.reject(new Error('it could not be asked'));
  return Object.assign(Object.create(provider) as Provider, { models });
}

async function targetFinding(what: string, path: string, name: string, names: Names): Promise<Finding> {
  const { offered } = names;
  const targets = await targetsOf(name, names);
  const about = targets.map(({ provider, model }) => {
    const found = offered.find((each) => each.provider.id === provider.id);
    return { provider, found, has: model === '' || found?.models.includes(model) === true };
  });
  if (about.some(({ has }) => has)) return good(`${what} stands for ${name}`);
  const [target] = targets;
  if (target !== undefined && about.every(({ found }) => found === undefined))
    return waitingFinding(what, name, target);
  const absent = targets.length === 0 ? absentServer(name, names) : undefined;
  if (absent !== undefined) return absentFinding(`${what} stands for ${name}, which`, absent);
  const unsure =
    targets.length === 0
      ? offered
          .filter(({ provider, listed }) => listed === undefined && mayBeReady(provider))
          .map(({ provider }) => provider)
      : about.filter(({ found }) => found?.isAll !== true).map(({ provider }) => provider);
  if (unsure.length > 0) {
    const ids = unsure.map(({ id }) => id).join(', ');
    return note(`${what} stands for ${name}, which cannot be checked while ${ids} cannot be asked`);
  }
  const all =
    targets.length === 0
      ? offered.flatMap(({ provider, models }) => models.map((model) => `${provider.id}/${model}`))
      : about.flatMap(({ found }) => found?.models ?? []);
  return wrong(
    `${what} points to "${name}", which no provider offers`,
    `${meant(target?.model ?? name, all)}correct ${path}`,
  );
}

/** Of a known provider that nobody has given a key here. */
function waitingFinding(what: string, name: string, { provider }: Target): Finding {
  return note(
    `${what} stands for ${name}, but ${provider.id} has no key: it answers only requests that bring one`,
    keyFor(provider),
  );
}

function keyFor({ id, auth, loginUrl }: Provider): string {
  return howToGiveKey(id, auth.kind === 'api_key' ? auth.variable : undefined, loginUrl);
}

/** The local server that a name begins with, where it would be found but does not run. */
function absentServer(name: string, { config, offered }: Names): Row | undefined {
  const row = rows.get(name.split(/[/:]/, 1)[0] ?? '');
  const isLookedFor = config.detectLocal && row?.activation === 'local' && config.disabled?.includes(row.id) !== true;
  return isLookedFor && !offered.some(({ provider }) => provider.id === row.id) ? row : undefined;
}

function absentFinding(what: string, { id, label }: Row): Finding {
  return note(`${what} is there as soon as ${label} runs`, `start it, or set providers.${id}.baseUrl`);
}

/** Where the router would send some request for a name; empty: nowhere. */
async function targetsOf(name: string, { config, catalog }: Names): Promise<readonly Target[]> {
  const preferences = { aliases: new Map(), routing: config.routing };
  for (const ability of ABILITIES) {
    try {
      return await select({ model: name, providers: [], ignored: [], ability }, preferences, catalog, () => ({}));
    } catch {
      // Something else can perhaps be asked of it.
    }
  }
  return [];
}

/** What only waits for cookies may have got some; what waits for a key serves nobody who does not name it. */
function mayBeReady(provider: Provider): boolean {
  return isReady(provider) || provider.auth.kind === 'cookies';
}

function providerFinding(id: string, names: Names): Finding {
  const { offered, catalog } = names;
  const provider = catalog.provider(id);
  if (provider !== undefined && offered.some((each) => each.provider.id === provider.id))
    return good(`the default provider is ${id}`);
  if (provider !== undefined) return wrong(`the default provider ${id} has no key`, keyFor(provider));
  const absent = absentServer(id, names);
  if (absent !== undefined) return absentFinding(`the default provider ${id}`, absent);
  const on = offered.map((each) => each.provider.id);
  const near = suggest(id, on);
  const hint = near === undefined ? '' : `did you mean "${near}"? `;
  return wrong(`the default provider "${id}" is not on`, `${hint}on are: ${on.join(', ') || 'none'}`);
}
