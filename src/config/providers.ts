import { defined } from '../core/objects.ts';
import type { ProviderConfig } from './config.ts';
import { fillIn } from './interpolate.ts';
import { PROVIDER_KINDS } from './kinds.ts';
import { type Environment, variable } from './paths.ts';
import type { Problem } from './problems.ts';
import { type Row, rows } from './rows.ts';
import type { ProviderEntry } from './schema.ts';
import { suggest } from './suggest.ts';
import { KEY_FORM, parseBaseUrl, parseKey } from './text-forms.ts';

/** No upstreams: they have a section of their own. */
const EMBEDDED: ReadonlyMap<string, string> = new Map([
  ['embedded', 'model'],
  ['flite', 'voice'],
]);

/** Which providers are on, and what is to be said about the others. */
export interface ResolvedProviders {
  /** The file's own in its order, then those that a key in the environment switched on. */
  readonly providers: readonly ProviderConfig[];
  /** Known ones that only lack a key, which a client may bring. */
  readonly available: readonly ProviderConfig[];
  /** Ids with `enabled: false`. */
  readonly disabled: readonly string[];
  /** What is wrong in the file. */
  readonly problems: readonly Problem[];
  /** Keys in the environment that switch nothing on, and why; one sentence each. */
  readonly notes: readonly string[];
}

/** `referenceOf` tells from which variable the file takes the key of an entry. */
export function resolveProviders(
  entries: Readonly<Record<string, ProviderEntry>>,
  environment: Environment,
  referenceOf: (id: string) => string | undefined,
): ResolvedProviders {
  const providers: ProviderConfig[] = [];
  const available: ProviderConfig[] = [];
  const disabled: string[] = [];
  const problems: Problem[] = [];
  const notes: string[] = [];

  for (const [id, entry] of Object.entries(entries)) {
    if (entry.enabled === false) disabled.push(id);
    else {
      const report = (key: string, message: string) => problems.push({ path: ['providers', id, key], message });
      const provider = fromFile(id, entry, environment, referenceOf(id), report);
      if (provider !== undefined) providers.push(provider);
    }
  }
  for (const row of rows.values()) {
    if (Object.hasOwn(entries, row.id)) continue;
    const provider = fromEnvironment(row, environment, (note) => notes.push(note));
    if (provider === undefined) available.push(...withoutKey(row, environment));
    else providers.push(provider);
  }
  return { providers, available, disabled, problems, notes };
}

function fromFile(
  id: string,
  entry: ProviderEntry,
  environment: Environment,
  reference: string | undefined,
  report: (key: string, message: string) => void,
): ProviderConfig | undefined {
  const embedded = EMBEDDED.get(id);
  if (embedded !== undefined) {
    const taken = `the id "${id}" is taken by the ${embedded} inside Sluice`;
    report('kind', `${taken}; allowed: any other id, or the section embedded`);
    return undefined;
  }
  const known = rows.get(id);
  // With another kind it is another upstream that happens to have the same id.
  const row = known !== undefined && (entry.kind ?? known.kind) === known.kind ? known : undefined;
  const kind = entry.kind ?? row?.kind;
  if (kind === undefined) {
    report('kind', missingKind(id));
    return undefined;
  }
  // Another address of the same vendor: all but the id, the key and its variable is the vendor's.
  const vendor = row ?? [...rows.values()].find((each) => each.kind === kind && kind !== 'openai');
  const settings = settingsOf(vendor, entry, environment);
  const baseUrl =
    entry.baseUrl ?? filledBaseUrl(vendor, settings, environment, (message) => report('baseUrl', message));
  if (baseUrl === undefined && kind === 'openai') {
    if (row === undefined)
      report('baseUrl', 'got nothing; allowed: the address of the upstream, such as https://host/v1');
    return undefined;
  }
  const keys = keysOf(entry, row, environment, report);
  const modelsPath = entry.baseUrl === undefined ? filledModelsPath(vendor, settings, environment) : undefined;
  return {
    ...(vendor === undefined ? {} : common(vendor)),
    id,
    kind,
    label: entry.label ?? row?.label ?? id,
    origin: 'file',
    needsKey: entry.auth !== 'cookies' && (vendor?.needsKey ?? keys.apiKey !== undefined),
    keyHeader: entry.apiKeyHeader ?? vendor?.keyHeader ?? 'authorization',
    headers: { ...vendor?.headers, ...entry.headers },
    settings: { ...modelsPath, ...settings },
    ...keys,
    ...(reference === undefined ? {} : { keyVariable: reference }),
    ...(entry.auth !== 'cookies' || baseUrl === undefined
      ? {}
      : { cookieDomain: entry.cookieDomain ?? new URL(baseUrl).hostname }),
    ...defined({
      baseUrl,
      models: entry.models,
      defaultModel: entry.defaultModel,
      hostedTools: entry.hostedTools,
    }),
  };
}

/** The keys that an entry has or that the environment has for it, and the variable that gives or would give one. */
function keysOf(
  { apiKey, apiKeys }: ProviderEntry,
  row: Row | undefined,
  environment: Environment,
  report: (key: string, message: string) => void,
): Pick<ProviderConfig, 'apiKey' | 'apiKeys' | 'keyVariable'> {
  if (apiKey !== undefined && apiKeys !== undefined) report('apiKeys', 'stands beside apiKey; allowed: one of them');
  const isGiven = apiKey !== undefined || apiKeys !== undefined;
  const own = isGiven ? undefined : keyFrom(row, environment, (message) => report('apiKey', message));
  const several = [...new Set(apiKeys)];
  return defined({
    apiKey: apiKey ?? several[0] ?? own?.value,
    apiKeys: several.length < 2 ? undefined : several,
    keyVariable: own?.name ?? row?.keys[0],
  });
}

function missingKind(id: string): string {
  const meant = suggest(id, rows.keys());
  const hint = meant === undefined ? '' : ` did you mean the provider "${meant}"?`;
  return `got nothing, and "${id}" is not a provider that Sluice knows;${hint} allowed: ${PROVIDER_KINDS.join(', ')}`;
}

function fromEnvironment(row: Row, environment: Environment, note: (text: string) => void): ProviderConfig | undefined {
  const key = keyFrom(row, environment, (message) => note(`${row.id} is off: ${message}`));
  if (key === undefined) return undefined;
  if (row.activation !== 'key') {
    note(`${row.id} is off although ${key.name} is set: it is used only when sluice.yaml names it under providers`);
    return undefined;
  }
  const settings = settingsOf(row, {}, environment);
  const missing: string[] = [];
  const baseUrl = filledBaseUrl(row, settings, environment, (message) => missing.push(message));
  if (missing.length > 0) {
    note(`${row.id} is off although ${key.name} is set: ${missing.join(', ')}`);
    return undefined;
  }
  return {
    ...common(row),
    origin: 'environment',
    headers: row.headers,
    settings: { ...filledModelsPath(row, settings, environment), ...settings },
    apiKey: key.value,
    keyVariable: key.name,
    ...defined({ baseUrl }),
  };
}

/** A provider that waits for a key, when nothing else of its address is missing. */
function withoutKey(row: Row, environment: Environment): ProviderConfig[] {
  if (row.activation !== 'key' || !row.needsKey) return [];
  const settings = settingsOf(row, {}, environment);
  let complete = true;
  const baseUrl = filledBaseUrl(row, settings, environment, () => {
    complete = false;
  });
  if (!complete) return [];
  const [keyVariable] = row.keys;
  return [
    {
      ...common(row),
      origin: 'environment',
      headers: row.headers,
      settings: { ...filledModelsPath(row, settings, environment), ...settings },
      ...defined({ keyVariable, baseUrl }),
    },
  ];
}

/** What a provider has from its row, without anything that the environment fills in. */
function common(row: Row): Omit<ProviderConfig, 'origin' | 'headers' | 'settings'> {
  const { id, kind, label, needsKey, keyHeader, baseUrl, models, defaultModel, url, loginUrl } = row;
  return { id, kind, label, needsKey, keyHeader, ...defined({ baseUrl, models, defaultModel, url, loginUrl }) };
}

function keyFrom(
  row: Row | undefined,
  environment: Environment,
  report: (message: string) => void,
): { name: string; value: string } | undefined {
  for (const name of row?.keys ?? []) {
    const given = variable(environment, name);
    if (given === undefined) continue;
    const value = parseKey(given);
    if (value !== undefined) return { name, value };
    report(`the environment variable ${name} holds something else than ${KEY_FORM}`);
    return undefined;
  }
  return undefined;
}

function settingsOf(row: Row | undefined, entry: ProviderEntry, environment: Environment): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [name, { variables, otherwise }] of Object.entries(row?.settings ?? {})) {
    const values = variables.map((each) => variable(environment, each));
    settings[name] = values.find((value) => value !== undefined) ?? otherwise;
  }
  return { ...settings, ...entry.settings };
}

function filledBaseUrl(
  row: Row | undefined,
  settings: Environment,
  environment: Environment,
  report: (message: string) => void,
): string | undefined {
  if (row?.baseUrl === undefined) return undefined;
  let complete = true;
  const text = fillIn(
    row.baseUrl,
    { ...environment, ...settings },
    (message) => {
      complete = false;
      report(message);
    },
    (name) => `settings.${name} of this provider`,
  );
  if (!complete) return undefined;
  const baseUrl = parseBaseUrl(text);
  if (baseUrl === undefined)
    report('the variables in the address of this provider do not give an http or https address');
  return baseUrl;
}

function filledModelsPath(
  row: Row | undefined,
  settings: Environment,
  environment: Environment,
): { modelsPath?: string } {
  if (row?.modelsPath === undefined) return {};
  return { modelsPath: fillIn(row.modelsPath, { ...environment, ...settings }, () => undefined) };
}
