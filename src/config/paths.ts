import { homedir } from 'node:os';
import path from 'node:path';
import { ConfigError } from './problems.ts';

/** The environment as the configuration sees it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable's value without surrounding blanks; undefined when it is not set or blank. */
export function variable(environment: Environment, name: string): string | undefined {
  // `toString` and the like are no variables.
  const value = Object.hasOwn(environment, name) ? environment[name]?.trim() : undefined;
  return value === '' ? undefined : value;
}

/** The per-user folder for data, by the conventions of the system. */
export function defaultDataDir(environment: Environment, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') {
    return path.join(variable(environment, 'LOCALAPPDATA') ?? path.join(home(), 'AppData', 'Local'), 'sluice');
  }
  if (platform === 'darwin') return path.join(home(), 'Library', 'Application Support', 'sluice');
  const xdg = variable(environment, 'XDG_DATA_HOME');
  // A relative value is to be ignored (XDG Base Directory Specification).
  return path.join(xdg !== undefined && path.isAbsolute(xdg) ? xdg : path.join(home(), '.local', 'share'), 'sluice');
}

/** Throws `ConfigError` where the account has none, neither in HOME nor in the list of users. */
function home(): string {
  let folder = '';
  try {
    folder = homedir();
  } catch {
    // The same as an empty HOME.
  }
  if (path.isAbsolute(folder)) return folder;
  throw new ConfigError([
    'there is no home folder: set HOME, or say with --data-dir, SLUICE_DATA_DIR or dataDir in sluice.yaml where to store everything',
  ]);
}

/** An absolute path. `~/` is the home folder: in a file no shell expands it. */
export function absolutePath(from: string, value: string): string {
  if (value === '~' || value.startsWith('~/')) return path.join(home(), value.slice(1));
  return path.resolve(from, value);
}
