import path from 'node:path';
import { defined } from '../core/objects.ts';
import { resolveObserve } from '../observe/config.ts';
import { resolveSearch } from '../search/config.ts';
import { accessKey } from './access-key.ts';
import type { Config } from './config.ts';
import { defaultBind, defaultEmbedded, defaultLimits, defaultLogLevel, defaultTrustedProxies } from './defaults.ts';
import { type ConfigFile, findDefaultFile, readConfigFile, shownPath } from './file.ts';
import { type Flags, outerSettings } from './flags.ts';
import { deepFreeze } from './freeze.ts';
import type { Choice } from './kinds.ts';
import { absolutePath, defaultDataDir, type Environment, variable } from './paths.ts';
import { ConfigError, type Path, type Problem, pathText, valueAt } from './problems.ts';
import { resolveProxy } from './proxy.ts';
import type { FileSettings } from './schema.ts';

/** Where settings come from. */
export interface LoadOptions {
  readonly flags?: Flags;
  /** Default: the process's own. */
  readonly environment?: Environment;
  /** Where `sluice.yaml` is looked for and what relative paths of flags and variables are relative to. */
  readonly directory?: string;
}

/** A configuration, and what is to be told about the way to it. */
export interface Loaded {
  /** Frozen to the bottom. */
  readonly config: Config;
  /** Variables that have no effect, and why; one sentence each. */
  readonly notes: readonly string[];
  /** Whether nothing is in the file that `config` names. */
  readonly isFileEmpty: boolean;
}

/** Flags beat the environment, the environment beats the file. Throws `ConfigError` with everything that is wrong. */
export async function loadConfig(options: LoadOptions): Promise<Loaded> {
  const { flags = {}, environment = process.env, directory = process.cwd() } = options;
  const opened = await openFile(flags, environment, directory);
  const { wrongOutside, wrongInFile, mayPass, ...loaded } = await resolve(options, opened);
  const problems = [...wrongOutside, ...wrongInFile];
  if (problems.length > 0) throw new ConfigError(problems, { mayPass });
  return loaded;
}

/** The same as far as it can be used: a wrong flag or variable counts as not set, and a wrong file as none. */
export async function loadUsable(options: LoadOptions): Promise<Resolved> {
  const { flags = {}, environment = process.env, directory = process.cwd() } = options;
  const first = await resolve(options, await openFile(flags, environment, directory));
  if (first.wrongInFile.length === 0) return first;
  return { ...(await resolve(options, { problems: [], mayPass: false })), wrongInFile: first.wrongInFile };
}

/** The same where something is wrong: `config` is what could be used. */
export interface Resolved extends Loaded {
  /** What is wrong with flags and variables, and with the file or its name: one line each. */
  readonly wrongOutside: readonly string[];
  readonly wrongInFile: readonly string[];
  /** The machine is at fault: the file can perhaps be read a little later. */
  readonly mayPass: boolean;
}

async function resolve(
  { flags = {}, environment = process.env, directory = process.cwd() }: LoadOptions,
  { file, problems: unreadable, mayPass }: Opened,
): Promise<Resolved> {
  const wrongOutside: string[] = [];
  const outer = outerSettings(flags, environment, directory, wrongOutside);
  const { settings, reference, wrong } = file === undefined ? nothing : await settingsOf(file, environment);

  const { resolveProviders } = await import('./providers.ts');
  const resolved = resolveProviders(settings.providers ?? {}, environment, reference);
  const search = resolveSearch(defined(settings.search ?? {}), environment);
  const ofSearch = search.problems.map(({ key, message }) => ({ path: ['search', key], message }));
  const ofFile = file === undefined ? [] : linesOf(file, [...wrong, ...resolved.problems, ...ofSearch]);
  const observe = resolveObserve(environment, settings.observe);

  const base = file === undefined ? directory : path.dirname(file.path);
  const bind = outer.bind ?? settings.bind ?? defaultBind;
  const fromFile = settings.dataDir === undefined ? undefined : absolutePath(base, settings.dataDir);
  const dataDir = outer.dataDir ?? fromFile ?? defaultDataDir(environment);
  const { modelsDir, threads, ...embedded } = settings.embedded ?? {};
  const { defaultProvider, defaultModel } = settings;
  const database = outer.database ?? settings.database;
  const config: Config = {
    bind,
    dataDir,
    ...(database === undefined ? {} : { database }),
    ...(file === undefined ? {} : { file: file.path }),
    logLevel: outer.logLevel ?? settings.logLevel ?? defaultLogLevel,
    workers: outer.workers ?? settings.workers ?? 1,
    ...accessKey(outer.key ?? settings.key, bind.host),
    allowedHosts: settings.allowedHosts ?? [],
    allowedOrigins: settings.allowedOrigins ?? [],
    trustedProxies: settings.trustedProxies ?? defaultTrustedProxies,
    ...(defaultProvider === undefined ? {} : { defaultProvider }),
    ...(defaultModel === undefined ? {} : { defaultModel }),
    detectLocal: settings.detectLocal ?? true,
    embedded: {
      ...defaultEmbedded,
      ...defined(embedded),
      modelsDir: modelsDir === undefined ? path.join(dataDir, 'models') : absolutePath(base, modelsDir),
      ...(threads === undefined ? {} : { threads }),
    },
    providers: resolved.providers,
    available: resolved.available,
    disabled: resolved.disabled,
    proxy: resolveProxy(environment, wrongOutside),
    search: search.config,
    observe: observe.config,
    ...routingOf(settings),
    limits: { ...defaultLimits, ...defined(settings.limits ?? {}) },
  };
  const notes = [...resolved.notes, ...search.notes, ...observe.notes];
  return {
    config: deepFreeze(config),
    notes,
    isFileEmpty: file?.isEmpty ?? false,
    wrongOutside,
    wrongInFile: [...unreadable, ...ofFile],
    mayPass,
  };
}

/** Aliases as chains of names, and what is to be known for a choice among equals. */
function routingOf({ aliases = {}, providers = {}, routing }: FileSettings): Pick<Config, 'aliases' | 'routing'> {
  const chains = new Map<string, readonly string[]>();
  const groups = new Map<string, { choice: Choice; weights: ReadonlyMap<string, number> }>();
  for (const [alias, target] of Object.entries(aliases)) {
    if (typeof target === 'string' || Array.isArray(target)) {
      chains.set(alias, [target].flat());
      continue;
    }
    const models = target.models.map((each) => (typeof each === 'string' ? { model: each } : each));
    const weights = new Map(models.map(({ model, weight = 1 }) => [model, weight]));
    chains.set(alias, [...weights.keys()]);
    groups.set(alias, { choice: target.choice ?? 'weighted', weights });
  }
  const shares = Object.entries(providers).flatMap(([id, { weight }]) =>
    weight === undefined ? [] : [[id, weight] as const],
  );
  return {
    aliases: chains,
    routing: { choice: routing?.choice ?? 'order', weights: new Map(shares), aliases: groups },
  };
}

interface FileContent {
  readonly settings: FileSettings;
  /** The variable from which the file takes the key of a provider. */
  readonly reference: (id: string) => string | undefined;
  readonly wrong: readonly Problem[];
}

const nothing: FileContent = { settings: {}, reference: () => undefined, wrong: [] };

interface Opened {
  readonly file?: ConfigFile;
  /** Why there is none. */
  readonly problems: readonly string[];
  readonly mayPass: boolean;
}

/** The file that a flag or variable names, else the default one when it is there. */
async function openFile(flags: Flags, environment: Environment, directory: string): Promise<Opened> {
  const named = flags.config ?? variable(environment, 'SLUICE_CONFIG');
  const file = named === undefined ? findDefaultFile(directory) : absolutePath(directory, named);
  if (file === undefined) return { problems: [], mayPass: false };
  const source = flags.config === undefined ? 'SLUICE_CONFIG' : '--config';
  if (named?.trim() === '') return { problems: [`${source}: got ""; allowed: a path`], mayPass: false };
  try {
    const read = await readConfigFile(file, shownPath(file, directory), named === undefined ? undefined : source);
    return { file: read, problems: [], mayPass: false };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems, mayPass: error.mayPass };
  }
}

async function settingsOf(file: ConfigFile, environment: Environment): Promise<FileContent> {
  // Loaded only when there is a file: they take longer than all the rest of a start.
  const [{ fileSchema, validProviders }, { problemsOf, withTypes }, { interpolate, soleReference }] = await Promise.all(
    [import('./schema.ts'), import('./check.ts'), import('./interpolate.ts')],
  );
  const { value, unresolved } = interpolate(file.raw, environment);
  const isOff = ([section, id]: Path): boolean =>
    section === 'providers' && id !== undefined && valueAt(file.raw, [section, id, 'enabled']) === false;
  const reference = (id: string) => soleReference(valueAt(file.raw, ['providers', id, 'apiKey']));
  const wrong: Problem[] = unresolved.filter((each) => !isOff(each.path));

  const asTexts = fileSchema.safeParse(value);
  const typed = asTexts.success ? undefined : withTypes(asTexts.error, value, file.raw);
  const parsed = typed === undefined ? asTexts : fileSchema.safeParse(typed);
  if (parsed.success) return { settings: parsed.data, reference, wrong };
  // A text in which a variable is missing has been reported already.
  const reported = new Set(unresolved.map((each) => pathText(each.path)));
  wrong.push(...problemsOf(parsed.error, file.raw).filter((problem) => !reported.has(pathText(problem.path))));
  // The providers are looked through all the same, so that everything wrong is told at once.
  return { settings: { providers: validProviders(valueAt(typed ?? value, ['providers'])) }, reference, wrong };
}

/** `sluice.yaml:12: limits.connectMs: got -1; allowed: …`, in the order of the file. */
function linesOf(file: ConfigFile, problems: readonly Problem[]): string[] {
  const placed = problems.map(({ path: place, message }) => ({
    line: file.lineOf(place),
    name: pathText(place),
    message,
  }));
  placed.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
  return placed.map(({ line, name, message }) => {
    return `${file.shown}${line === undefined ? '' : `:${line}`}: ${name === '' ? '' : `${name}: `}${message}`;
  });
}
