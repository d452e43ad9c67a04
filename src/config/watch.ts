import { stat } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../core/logger.ts';
import type { Config, Limits } from './config.ts';
import { DEFAULT_FILE } from './file.ts';
import { fileEvents } from './file-events.ts';
import { deepFreeze } from './freeze.ts';
import { ConfigError } from './problems.ts';

/** What a running Sluice takes over, but for `FIXED_LIMITS`. All the rest is fixed at the start: sockets, folders, loaded models. */
const SAFE = [
  'providers',
  'available',
  'disabled',
  'aliases',
  'routing',
  'limits',
  'defaultProvider',
  'defaultModel',
] as const;

/** What Node asks for when a server is made. */
const FIXED_LIMITS = ['headerBytes'] as const satisfies readonly (keyof Limits)[];

/** Changed often enough to be noticed, and no setting of anybody. */
const IGNORED = new Set<string>(['file', 'keyGenerated', ...SAFE]);

/** What is made of the setting `providers`. */
const OF_PROVIDERS = new Set<string>(['available', 'disabled']);

/** The signature of a file that somebody is about to write, as far as anybody can know: a shell empties it first (`… > sluice.yaml`). */
const EMPTY = 'empty';

/** Until a file is read again that could not be read for a reason that may pass. */
const AGAIN_MS = 1_000;

/** A file that is followed, until it is closed. */
export interface ConfigWatch {
  close(): void;
}

/**
 * Follows changes of the file. A valid new one is handed to `onChange`, with only its safe parts taken over; an invalid, an
 * empty or a vanished one is logged, and the last valid one stays in force. `restartFor` says what the other parts need. Never throws,
 * also where files cannot be watched.
 */
export function watchConfig(
  load: () => Promise<Config>,
  current: Config,
  onChange: (config: Config) => void | Promise<void>,
  log: Logger,
  restartFor: (key: string) => string = () => 'a restart of Sluice',
): ConfigWatch {
  const file = current.file ?? path.resolve(DEFAULT_FILE);
  let inForce = current;
  // No signature: what was changed since the configuration was loaded must count, so the first event always reads. Where
  // there was no file, only one that comes is a change.
  let seen = current.file === undefined ? undefined : 'never seen';
  let again: NodeJS.Timeout | undefined;
  let closed = false;
  let wrong = false;
  let reading: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    clearTimeout(again);
    const now = await signature(file);
    if (closed || now === seen) return;
    events.follow();
    seen = now;
    if (now === undefined || now === EMPTY) {
      const state = now === undefined ? 'gone' : 'empty';
      log.warn({ file }, `the configuration file is ${state}; the last configuration stays in force`);
      return;
    }
    try {
      const loaded = await load();
      // Emptied since: an empty file may have been read.
      if ((await signature(file)) === EMPTY) return events.nudge();
      const next = merge(inForce, loaded);
      report(next.needRestart);
      if (wrong) log.info({ file }, 'the configuration file can be used again');
      wrong = false;
      if (closed || next.changed.length === 0) return;
      await onChange(next.config);
      inForce = next.config;
      const changed = [...new Set(next.changed.map((key) => (OF_PROVIDERS.has(key) ? 'providers' : key)))];
      log.info({ file, changed }, `the configuration has changed: ${changed.join(', ')}`);
    } catch (error) {
      if (error instanceof ConfigError && error.mayPass) tryAgain(error);
      else reportFailure(error);
    }
  }

  function tryAgain({ problems }: ConfigError): void {
    if (closed) return;
    // Said once, however often it fails.
    if (!wrong) log.warn({ file }, `the changed configuration is read later: ${problems.join('\n')}`);
    wrong = true;
    seen = 'never seen';
    again = setTimeout(readNext, AGAIN_MS).unref();
  }

  function report(needRestart: readonly string[]): void {
    for (const [restart, keys = []] of Object.entries(Object.groupBy(needRestart, restartFor))) {
      log.warn({ file, needRestart: keys }, `a change of ${keys.join(', ')} needs ${restart}`);
    }
  }

  function reportFailure(error: unknown): void {
    if (!(error instanceof ConfigError)) {
      log.error({ file, err: error }, 'the changed configuration could not be taken over');
      return;
    }
    wrong = true;
    const problems = error.problems.join('\n');
    log.error({ file }, `the changed configuration is wrong, the last one stays in force: ${problems}`);
  }

  function readNext(): void {
    reading = reading.then(read);
  }

  const events = fileEvents(file, readNext, log);
  return {
    close() {
      closed = true;
      clearTimeout(again);
      events.close();
    },
  };
}

/** Changes whenever the file does; undefined while there is none. */
async function signature(file: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    if (size === 0n) return EMPTY;
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return undefined;
  }
}

/** The configuration in force with the safe parts of the next one. */
function merge(inForce: Config, next: Config): { config: Config; changed: string[]; needRestart: string[] } {
  const differs = (key: keyof Config) => !isDeepStrictEqual(inForce[key], next[key]);
  const keys = [...new Set([...Object.keys(inForce), ...Object.keys(next)])] as (keyof Config)[];
  // A generated key is another one at every load.
  const generated = inForce.keyGenerated === true && next.keyGenerated === true;
  const needRestart: string[] = keys.filter(
    (key) => !IGNORED.has(key) && !(key === 'key' && generated) && differs(key),
  );
  const merged: Record<string, unknown> = { ...inForce };
  for (const key of SAFE) {
    if (next[key] === undefined) delete merged[key];
    else merged[key] = next[key];
  }
  const limits = { ...next.limits };
  for (const name of FIXED_LIMITS) {
    if (limits[name] !== inForce.limits[name]) needRestart.push(`limits.${name}`);
    limits[name] = inForce.limits[name];
  }
  const config = deepFreeze({ ...merged, limits } as unknown as Config);
  return { config, changed: SAFE.filter((key) => !isDeepStrictEqual(inForce[key], config[key])), needRestart };
}
