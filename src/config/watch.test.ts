import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { eventually } from '../../test/support/eventually.ts';
import type { Logger } from '../core/logger.ts';
import type { Config } from './config.ts';
import { loadConfig } from './load.ts';
import { ConfigError } from './problems.ts';
import { watchConfig } from './watch.ts';

const FIRST = 'bind: 127.0.0.1:1337\naliases: {fast: a/b}\n';

const until = (happened: () => boolean) => eventually('what is to happen', happened);

/** Longer than the watch waits for quiet: time in which something that must not happen would have happened. */
const WHILE_NOTHING_HAPPENS = 400;

interface Options {
  readonly refuse?: boolean;
  readonly folder?: string;
  /** How often the file cannot be read for a reason that passes, after the first time. */
  readonly unreadable?: number;
  /** How often somebody empties the file in the moment in which it is read, after the first time. */
  readonly emptied?: number;
  /** What the reading of a change ends with. */
  readonly beforeLoaded?: () => Promise<void>;
}

async function start(context: TestContext, options: Options = {}) {
  const folder = options.folder ?? temporaryFolder(context);
  const file = path.join(folder, 'sluice.yaml');
  if (options.folder === undefined) writeFileSync(file, FIRST);
  let loads = 0;
  const load = async () => {
    loads += 1;
    if (loads > 1 && loads <= 1 + (options.unreadable ?? 0)) {
      throw new ConfigError(['cannot read sluice.yaml: too many open files'], { mayPass: true });
    }
    if (loads > 1 && loads <= 1 + (options.emptied ?? 0)) writeFileSync(file, '');
    const isFirst = loads === 1;
    const { config } = await loadConfig({ directory: folder, environment: {}, flags: { config: file } });
    if (!isFirst) await options.beforeLoaded?.();
    return config;
  };
  const lines: string[] = [];
  const changes: Config[] = [];
  const line = (level: string) => (_fields: object, message: string) => lines.push(`${level}: ${message}`);
  const log: Logger = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: () => log,
  };
  const current = await load();
  const onChange = (config: Config) => {
    changes.push(config);
    if (options.refuse === true) throw new Error('refused');
  };
  const watch = watchConfig(load, current, onChange, log);
  context.after(() => watch.close());
  // The first look at the file is asynchronous; a change before it would not be one.
  await sleep(50);
  return { folder, file, lines, changes, current, watch };
}

/** A reading that has begun when `reading` is fulfilled, and ends once `isRead` is resolved; those behind it take no time. */
function slowReading() {
  const reading = Promise.withResolvers<void>();
  const isRead = Promise.withResolvers<void>();
  let count = 0;
  const beforeLoaded = async () => {
    count += 1;
    reading.resolve();
    if (count === 1) await isRead.promise;
  };
  return { reading, isRead, beforeLoaded };
}

test('safe parts are taken over, and nothing else', async (context) => {
  const { file, lines, changes, current } = await start(context);
  writeFileSync(
    file,
    'bind: 127.0.0.1:9999\nlogLevel: debug\naliases: {fast: c/d}\nlimits: {idleMs: 5}\nproviders: {ollama: {}}\n',
  );
  await until(() => changes.length === 1 && lines.length === 2);
  const [config] = changes;
  assert.deepEqual(config?.bind, current.bind);
  assert.equal(config?.logLevel, 'info');
  assert.deepEqual([...(config?.aliases ?? [])], [['fast', ['c/d']]]);
  assert.equal(config?.limits.idleMs, 5);
  assert.equal(config?.providers[0]?.id, 'ollama');
  assert.ok(Object.isFrozen(config));
  assert.deepEqual(lines, [
    'warn: a change of bind, logLevel needs a restart of Sluice',
    'info: the configuration has changed: providers, aliases, limits',
  ]);
});

test('a part that is taken away goes back to its default', async (context) => {
  const { file, changes } = await start(context);
  writeFileSync(file, 'defaultModel: x\n');
  await until(() => changes.length === 1);
  assert.equal(changes[0]?.defaultModel, 'x');
  assert.equal(changes[0]?.aliases.size, 0);
  writeFileSync(file, '# nothing\n');
  await until(() => changes.length === 2);
  assert.ok(!Object.hasOwn(changes[1] ?? {}, 'defaultModel'));
});

test('a wrong file changes nothing and is explained, a right one is taken again', async (context) => {
  const { folder, file, lines, changes } = await start(context);
  writeFileSync(file, 'aliases: 3\nlimits: {idleMs: no}\n');
  await until(() => lines.length === 1);
  assert.equal(
    lines[0]?.split('\n').join('|').replaceAll(file, 'F'),
    'error: the changed configuration is wrong, the last one stays in force: ' +
      `${'sluice.yaml'}:1: aliases: got 3; allowed: a map of names, each with a model or provider/model, or a list of them, or a map with choice and models|` +
      'sluice.yaml:2: limits.idleMs: got "no"; allowed: a whole number of milliseconds from 1 to 2147483647',
  );
  assert.deepEqual(changes, []);
  // Explained once, whatever else happens in its folder.
  writeFileSync(path.join(folder, 'other.txt'), 'x');
  await sleep(WHILE_NOTHING_HAPPENS);
  assert.equal(lines.length, 1);
  writeFileSync(file, FIRST);
  await until(() => lines.length === 2);
  assert.equal(lines[1], 'info: the configuration file can be used again');
  assert.deepEqual(changes, []);
  writeFileSync(file, 'aliases: {fast: c/d}\n');
  await until(() => changes.length === 1 && lines.length > 2);
  assert.deepEqual(lines.slice(2), ['info: the configuration has changed: aliases']);
});

test('what is changed back is a change, too', async (context) => {
  const { file, changes } = await start(context);
  writeFileSync(file, 'aliases: {fast: c/d}\n');
  await until(() => changes.length === 1);
  writeFileSync(file, FIRST);
  await until(() => changes.length === 2);
  assert.deepEqual(changes[1]?.aliases.get('fast'), ['a/b']);
});

test('a limit that the server was made with stays, and is said to need a restart', async (context) => {
  const { file, lines, changes, current } = await start(context);
  writeFileSync(file, `${FIRST}limits: {headerBytes: 20000, idleMs: 5}\n`);
  await until(() => changes.length === 1 && lines.length === 2);
  assert.deepEqual(changes[0]?.limits, { ...current.limits, idleMs: 5 });
  assert.equal(lines[0], 'warn: a change of limits.headerBytes needs a restart of Sluice');
});

test('a key that was made up stays, and is no change', async (context) => {
  const folder = temporaryFolder(context);
  const open = 'bind: 0.0.0.0:1337\n';
  writeFileSync(path.join(folder, 'sluice.yaml'), open);
  const { file, lines, changes, current } = await start(context, { folder });
  assert.equal(current.keyGenerated, true);
  writeFileSync(file, `${open}aliases: {fast: c/d}\n`);
  await until(() => changes.length === 1 && lines.length > 0);
  assert.equal(changes[0]?.key, current.key);
  assert.deepEqual(lines, ['info: the configuration has changed: aliases']);
});

test('changes are taken over in their order, however long one takes to be read', async (context) => {
  const { reading, isRead, beforeLoaded } = slowReading();
  const { file, changes } = await start(context, { beforeLoaded });
  writeFileSync(file, 'aliases: {fast: the/former}\n');
  await reading.promise;
  writeFileSync(file, 'aliases: {fast: the/latter}\n');
  await sleep(WHILE_NOTHING_HAPPENS);
  isRead.resolve();
  await until(() => changes.length === 2);
  assert.deepEqual(
    changes.map(({ aliases }) => aliases.get('fast')),
    [['the/former'], ['the/latter']],
  );
});

test('what is being read when it is closed is not taken over', async (context) => {
  const { reading, isRead, beforeLoaded } = slowReading();
  const { file, changes, watch } = await start(context, { beforeLoaded });
  writeFileSync(file, 'aliases: {fast: x/y}\n');
  await reading.promise;
  watch.close();
  isRead.resolve();
  await immediate();
  assert.deepEqual(changes, []);
});

test('a file that cannot be read for now is read later, though nothing more happens to it', async (context) => {
  const { file, lines, changes } = await start(context, { unreadable: 2 });
  writeFileSync(file, 'aliases: {fast: c/d}\n');
  await until(() => changes.length === 1 && lines.length === 3);
  assert.deepEqual([...(changes[0]?.aliases ?? [])], [['fast', ['c/d']]]);
  assert.deepEqual(lines, [
    'warn: the changed configuration is read later: cannot read sluice.yaml: too many open files',
    'info: the configuration file can be used again',
    'info: the configuration has changed: aliases',
  ]);
});

test('a new file put in its place is noticed, again and again', async (context) => {
  const { folder, file, changes } = await start(context);
  for (const round of [1, 2, 3]) {
    writeFileSync(path.join(folder, 'new'), `aliases: {fast: a/${round}}\n`);
    renameSync(path.join(folder, 'new'), file);
    await until(() => changes.length === round);
    assert.deepEqual(changes.at(-1)?.aliases.get('fast'), [`a/${round}`]);
  }
});

test('a vanished file changes nothing, a returning one is taken', async (context) => {
  const { file, lines, changes } = await start(context);
  rmSync(file);
  await until(() => lines.length === 1);
  assert.equal(lines[0], 'warn: the configuration file is gone; the last configuration stays in force');
  writeFileSync(file, 'aliases: {fast: x/y}\n');
  await until(() => changes.length === 1);
});

test('an emptied file changes nothing: whoever empties it is about to write it', async (context) => {
  const { file, lines, changes } = await start(context);
  writeFileSync(file, '');
  await until(() => lines.length === 1);
  assert.deepEqual(lines, ['warn: the configuration file is empty; the last configuration stays in force']);
  assert.equal(changes.length, 0);
  writeFileSync(file, 'aliases: {fast: c/d}\n');
  await until(() => changes.length === 1);
  assert.deepEqual([...(changes[0]?.aliases ?? [])], [['fast', ['c/d']]]);
});

test('a file that is emptied while it is read changes nothing', async (context) => {
  const { file, lines, changes } = await start(context, { emptied: 1 });
  writeFileSync(file, 'aliases: {fast: c/d}\n');
  await until(() => lines.length === 1);
  assert.deepEqual(lines, ['warn: the configuration file is empty; the last configuration stays in force']);
  assert.deepEqual(changes, []);
});

test('what has changed is told in the words of the file', async (context) => {
  const { file, lines } = await start(context);
  const mock = 'kind: openai, baseUrl: "http://127.0.0.1:9/v1"';
  writeFileSync(file, `${FIRST}providers: {groq: {apiKey: planted}, mock: {${mock}, enabled: false}}\n`);
  await until(() => lines.length === 1);
  assert.deepEqual(lines, ['info: the configuration has changed: providers']);
});

test('a mounted file, where a link moves to another folder, is noticed', async (context) => {
  const folder = temporaryFolder(context);
  const version = (name: string, content: string) => {
    mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, name, 'sluice.yaml'), content);
    symlinkSync(name, path.join(folder, 'link'));
    renameSync(path.join(folder, 'link'), path.join(folder, 'data'));
  };
  version('one', FIRST);
  symlinkSync('data/sluice.yaml', path.join(folder, 'sluice.yaml'));
  const { changes } = await start(context, { folder });
  version('two', 'aliases: {fast: moved/there}\n');
  await until(() => changes.length === 1);
  assert.deepEqual(changes[0]?.aliases.get('fast'), ['moved/there']);
});

test('what a link leads to is followed, wherever that is and where it leads next', async (context) => {
  const [folder, one, two] = [temporaryFolder(context), temporaryFolder(context), temporaryFolder(context)];
  const link = path.join(folder, 'sluice.yaml');
  const target = (place: string) => path.join(place, 'config.yaml');
  writeFileSync(target(one), FIRST);
  symlinkSync(target(one), link);
  const { changes } = await start(context, { folder });
  const alias = () => changes.at(-1)?.aliases.get('fast')?.[0];
  writeFileSync(target(one), 'aliases: {fast: in/place}\n');
  await until(() => alias() === 'in/place');
  writeFileSync(target(two), 'aliases: {fast: else/where}\n');
  symlinkSync(target(two), path.join(folder, 'next'));
  renameSync(path.join(folder, 'next'), link);
  await until(() => alias() === 'else/where');
  writeFileSync(path.join(two, 'next'), 'aliases: {fast: re/placed}\n');
  renameSync(path.join(two, 'next'), target(two));
  await until(() => alias() === 're/placed');
});

test('other files of the folder, and the same content, are no change', async (context) => {
  const { folder, file, lines, changes } = await start(context);
  writeFileSync(path.join(folder, 'other.txt'), 'x');
  writeFileSync(file, `${FIRST}# a comment\n`);
  await sleep(WHILE_NOTHING_HAPPENS);
  assert.deepEqual([lines, changes], [[], []]);
});

test('a change that cannot be taken over is logged and tried again with the next one', async (context) => {
  const { file, lines, changes } = await start(context, { refuse: true });
  writeFileSync(file, 'aliases: {fast: x/y}\n');
  await until(() => lines.length === 1);
  assert.equal(lines[0], 'error: the changed configuration could not be taken over');
  writeFileSync(file, 'aliases: {fast: x/y}\n# again\n');
  await until(() => changes.length === 2);
});

test('after close nothing is read any more', async (context) => {
  const { file, watch, changes, lines } = await start(context);
  writeFileSync(file, 'aliases: {fast: x/y}\n');
  watch.close();
  await sleep(WHILE_NOTHING_HAPPENS);
  assert.deepEqual([lines, changes], [[], []]);
});
