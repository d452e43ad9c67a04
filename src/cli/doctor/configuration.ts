import path from 'node:path';
import { hostAndPort, isLoopback } from '../../config/bind.ts';
import type { Config } from '../../config/config.ts';
import { DEFAULT_FILE } from '../../config/file.ts';
import { type Loaded, type LoadOptions, loadConfig } from '../../config/load.ts';
import { type Environment, variable } from '../../config/paths.ts';
import { ConfigError } from '../../config/problems.ts';
import { rows } from '../../config/rows.ts';
import { type Finding, good, note, wrong } from './finding.ts';

/** A key that somebody could guess is shorter than this. */
const SHORT_KEY = 16;

/** What is configured, and the configuration as far as it can be used: without the file when that is broken. */
export async function examineConfiguration(
  options: LoadOptions & { readonly environment: Environment; readonly directory: string },
): Promise<{ findings: Finding[]; config: Config | undefined }> {
  const findings: Finding[] = [];
  const loaded = await load(options, findings);
  const config = loaded?.config;
  findings.push(...fileFinding(config, findings.length > 0, options.directory));
  findings.push(good(`variables that count here: ${variablesIn(options.environment).join(', ') || 'none are set'}`));
  findings.push(...(loaded?.notes ?? []).map((text) => note(text)));
  if (config !== undefined) findings.push(accessFinding(config));
  return { findings, config };
}

/** Broken values are findings; then the rest is looked at without the file, and at last without flags. */
async function load(options: LoadOptions, findings: Finding[]): Promise<Loaded | undefined> {
  try {
    return await loadConfig(options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    findings.push(...error.problems.map((problem) => wrong(problem)));
  }
  return await loadConfig({ ...options, withoutFile: true }).catch(() => undefined);
}

function fileFinding(config: Config | undefined, isBroken: boolean, directory: string): Finding[] {
  if (isBroken) return [note('the file is left out in what follows, as it cannot be used')];
  if (config?.file !== undefined) return [good(`configuration file: ${config.file}`)];
  return [good(`no configuration file, and none is needed (looked for ${path.join(directory, DEFAULT_FILE)})`)];
}

/** Names only: the values are secrets. */
function variablesIn(environment: Environment): string[] {
  const own = ['SLUICE_BIND', 'SLUICE_CONFIG', 'SLUICE_DATA_DIR', 'SLUICE_LOG_LEVEL', 'SLUICE_KEY'];
  const names = new Set([...own, ...[...rows.values()].flatMap(variablesOf)]);
  return [...names].filter((name) => variable(environment, name) !== undefined);
}

function variablesOf(row: { keys: readonly string[]; baseUrl?: string; settings: object }): string[] {
  const inAddress = [...(row.baseUrl ?? '').matchAll(/\$\{(\w+)\}/g)].map((match) => match[1] ?? '');
  const settings = Object.values(row.settings as Record<string, { variables: readonly string[] }>);
  return [...row.keys, ...inAddress, ...settings.flatMap(({ variables }) => variables)];
}

function accessFinding({ bind, key, keyGenerated }: Config): Finding {
  const address = hostAndPort(bind.host, bind.port);
  if (isLoopback(bind.host)) {
    return good(`listens on ${address}, for this machine only${key === undefined ? '' : ', with an access key'}`);
  }
  if (keyGenerated === true) {
    return note(
      `listens on ${address}, reachable from elsewhere; every start makes up another access key`,
      'for a lasting one set SLUICE_KEY, or key in sluice.yaml',
    );
  }
  if (key === undefined) {
    return note(
      `listens on ${address} and asks nobody for a key, as was wished: everybody who reaches it can use your providers`,
      'set SLUICE_KEY, or key in sluice.yaml, unless that is meant',
    );
  }
  if (key.length >= SHORT_KEY) return good(`listens on ${address}, with an access key`);
  return note(
    `listens on ${address} with an access key of only ${key.length} characters`,
    `take one of ${SHORT_KEY} or more, for example from: openssl rand -base64 24`,
  );
}
