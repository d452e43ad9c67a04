import { defined } from '../core/objects.ts';
import { NO_KEY } from './access-key.ts';
import { BIND_FORMS, parseBind } from './bind.ts';
import { LOG_LEVELS } from './kinds.ts';
import { absolutePath, type Environment, variable } from './paths.ts';
import { ConfigError, given } from './problems.ts';
import { DATABASE_FORM, KEY_FORM, parseDatabase, parseKey } from './text-forms.ts';
import { parseWorkers, WORKERS_FORM } from './workers.ts';

/** A setting that a flag or, without it, a variable may give. */
interface OuterSetting<T> {
  readonly flag: string;
  readonly name: string;
  /** @param directory what a path is relative to */
  readonly parse: (text: string, directory: string) => T | undefined;
  readonly allowed: string;
}

const outer = {
  bind: { flag: '--bind', name: 'SLUICE_BIND', parse: parseBind, allowed: BIND_FORMS },
  dataDir: {
    flag: '--data-dir',
    name: 'SLUICE_DATA_DIR',
    parse: (text, directory) => (text.trim() === '' ? undefined : absolutePath(directory, text)),
    allowed: 'a path',
  },
  database: { flag: '--database', name: 'SLUICE_DATABASE', parse: parseDatabase, allowed: DATABASE_FORM },
  logLevel: {
    flag: '--log-level',
    name: 'SLUICE_LOG_LEVEL',
    parse: (text) => LOG_LEVELS.find((each) => each === text),
    allowed: LOG_LEVELS.join(', '),
  },
  workers: { flag: '--workers', name: 'SLUICE_WORKERS', parse: parseWorkers, allowed: WORKERS_FORM },
  key: { flag: '--key', name: 'SLUICE_KEY', parse: parseKey, allowed: `${KEY_FORM}, or none` },
} satisfies Record<string, OuterSetting<unknown>>;
type Outer = typeof outer;

/** The options of the command line that are configuration, as texts; a key of false: `--no-key`. */
export type Flags = {
  readonly [Name in keyof Outer | 'config']?: Name extends 'key' ? string | false : string;
};

/** The variables beside the flags of the same meaning. */
export const OWN_VARIABLES: readonly string[] = ['SLUICE_CONFIG', ...Object.values(outer).map(({ name }) => name)];

/** What flags and variables say; absent: neither says it, or what is said is wrong. */
export type OuterSettings = { readonly [Name in keyof Outer]?: NonNullable<ReturnType<Outer[Name]['parse']>> };

/** A wrong value of a variable that a flag overrides does not matter. */
function read<T>(
  { flag, name, parse, allowed }: OuterSetting<T>,
  flagged: string | undefined,
  environment: Environment,
  problems: string[],
  directory = '',
): T | undefined {
  const text = flagged ?? variable(environment, name);
  if (text === undefined) return undefined;
  const value = parse(text, directory);
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
  const said = Object.entries<OuterSetting<unknown>>(outer).map(([name, setting]) => {
    const flagged = flags[name as keyof Outer];
    return [name, flagged === false ? NO_KEY : read(setting, flagged, environment, problems, directory)] as const;
  });
  return defined(Object.fromEntries(said)) as OuterSettings;
}

/** The access key that is given for another server than the configured one. Throws `ConfigError`, which does not show it. */
export function keyFor({ key }: Pick<Flags, 'key'>, environment: Environment): string | undefined {
  if (key === false) return undefined;
  const problems: string[] = [];
  const found = read(outer.key, key, environment, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return found === NO_KEY ? undefined : found;
}
