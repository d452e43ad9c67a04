import { defined } from '../core/objects.ts';
import { NO_KEY } from './access-key.ts';
import { BIND_FORMS, parseBind } from './bind.ts';
import type { Config } from './config.ts';
import { LOG_LEVELS, type LogLevel } from './kinds.ts';
import { absolutePath, type Environment, variable } from './paths.ts';
import { ConfigError, given } from './problems.ts';
import { DATABASE_FORM, KEY_FORM, parseDatabase, parseKey } from './text-forms.ts';
import { parseWorkers, WORKERS_FORM } from './workers.ts';

/** The options of the command line that are configuration. */
export interface Flags {
  readonly bind?: string;
  readonly config?: string;
  readonly dataDir?: string;
  readonly database?: string;
  /** false: `--no-key`. */
  readonly key?: string | false;
  readonly logLevel?: string;
  readonly workers?: string;
}

/** The variables beside the flags of the same meaning. */
export const OWN_VARIABLES = [
  'SLUICE_BIND',
  'SLUICE_CONFIG',
  'SLUICE_DATA_DIR',
  'SLUICE_DATABASE',
  'SLUICE_WORKERS',
  'SLUICE_LOG_LEVEL',
  'SLUICE_KEY',
] as const;
type OwnVariable = (typeof OWN_VARIABLES)[number];

/** What flags and variables say; absent: neither says it, or what is said is wrong. */
export interface OuterSettings {
  readonly bind?: Config['bind'];
  readonly dataDir?: string;
  readonly database?: string;
  readonly logLevel?: LogLevel;
  readonly key?: string;
  readonly workers?: number;
}

/** A setting that a flag or, without it, a variable may give. */
interface OuterSetting<T> {
  readonly flag: string;
  readonly name: OwnVariable;
  readonly parse: (text: string) => T | undefined;
  readonly allowed: string;
}

const outerKey: OuterSetting<string> = {
  flag: '--key',
  name: 'SLUICE_KEY',
  parse: parseKey,
  allowed: `${KEY_FORM}, or none`,
};

/** A wrong value of a variable that a flag overrides does not matter. */
function read<T>(
  { flag, name, parse, allowed }: OuterSetting<T>,
  flagged: string | undefined,
  environment: Environment,
  problems: string[],
): T | undefined {
  const text = flagged ?? variable(environment, name);
  if (text === undefined) return undefined;
  const value = parse(text);
  const place = flagged === undefined ? name : flag;
  if (value === undefined) problems.push(`${place}: got ${given(text, [flag.slice(2)])}; allowed: ${allowed}`);
  return value;
}

/** What flags and variables say. What is wrong counts as not set, and is added to `problems`. */
export function outerSettings(
  flags: Flags,
  environment: Environment,
  directory: string,
  problems: string[],
): OuterSettings {
  const level = (text: string) => LOG_LEVELS.find((each) => each === text);
  const directoryOf = (text: string) => (text.trim() === '' ? undefined : absolutePath(directory, text));
  const from = <T>(flagged: string | undefined, setting: OuterSetting<T>) =>
    read(setting, flagged, environment, problems);
  return defined({
    bind: from(flags.bind, { flag: '--bind', name: 'SLUICE_BIND', parse: parseBind, allowed: BIND_FORMS }),
    dataDir: from(flags.dataDir, {
      flag: '--data-dir',
      name: 'SLUICE_DATA_DIR',
      parse: directoryOf,
      allowed: 'a path',
    }),
    database: from(flags.database, {
      flag: '--database',
      name: 'SLUICE_DATABASE',
      parse: parseDatabase,
      allowed: DATABASE_FORM,
    }),
    logLevel: from(flags.logLevel, {
      flag: '--log-level',
      name: 'SLUICE_LOG_LEVEL',
      parse: level,
      allowed: LOG_LEVELS.join(', '),
    }),
    workers: from(flags.workers, {
      flag: '--workers',
      name: 'SLUICE_WORKERS',
      parse: parseWorkers,
      allowed: WORKERS_FORM,
    }),
    key: flags.key === false ? NO_KEY : from(flags.key, outerKey),
  });
}

/** The access key that is given for another server than the configured one. Throws `ConfigError`, which does not show it. */
export function keyFor({ key }: Pick<Flags, 'key'>, environment: Environment): string | undefined {
  if (key === false) return undefined;
  const problems: string[] = [];
  const found = read(outerKey, key, environment, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return found === NO_KEY ? undefined : found;
}
