import { OBSERVE_VARIABLES, type ObserveVariable } from '../observe/config.ts';
import { SEARCH_VARIABLES } from '../search/config.ts';
import { OWN_VARIABLES } from './flags.ts';
import { PROXY_VARIABLES } from './proxy.ts';
import { type Row, rows } from './rows.ts';

/** Every variable that counts by itself; a file may name others. */
export function variablesRead(): ReadonlySet<string> {
  const ofProviders = [...rows.values()].flatMap(variablesOf);
  const ofProxies = PROXY_VARIABLES.flatMap((name) => [name.toLowerCase(), name]);
  return new Set([
    ...OWN_VARIABLES,
    ...ofProviders,
    ...Object.values(SEARCH_VARIABLES),
    ...OBSERVE_VARIABLES,
    ...ofProxies,
  ]);
}

/** Those of them whose values are secrets. */
export function secretVariables(): ReadonlySet<string> {
  const ofProviders = [...rows.values()].flatMap((row) => row.keys);
  const { searxng: _, ...ofSearch } = SEARCH_VARIABLES;
  const ofCollector: ObserveVariable = 'OTEL_EXPORTER_OTLP_HEADERS';
  return new Set(['SLUICE_KEY', 'SLUICE_DATABASE', ...ofProviders, ...Object.values(ofSearch), ofCollector]);
}

function variablesOf({ keys, baseUrl = '', settings }: Row): string[] {
  const inAddress = [...baseUrl.matchAll(/\$\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return [...keys, ...inAddress, ...Object.values(settings).flatMap(({ variables }) => variables)];
}
