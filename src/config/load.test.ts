// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the file, not of JavaScript
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { loadYaml, temporaryFolder } from '../../test/support/config-folder.ts';
import { defaultObserve } from '../observe/config.ts';
import { defaultLimits } from './defaults.ts';
import { loadConfig } from './load.ts';
import { defaultDataDir } from './paths.ts';

/** The form that has to work exactly so. */
const EXAMPLE = `\
bind: 127.0.0.1:1337
dataDir: ./data
providers:
  mock:
    kind: openai                      # any OpenAI-compatible upstream
    label: Mock
    baseUrl: http://127.0.0.1:18080/v1
    apiKey: \${MOCK_KEY}               # from the environment; a missing variable is an error that names it
    models: [mock-fast]               # optional; left out, they are asked from the upstream
aliases:
  fast: mock/mock-fast                # a name that clients can ask for
limits:
  connectMs: 10000
  firstByteMs: 120000
  idleMs: 60000
`;

describe('loading', () => {
  test('without anything: loopback, defaults, no providers', async (context) => {
    const folder = temporaryFolder(context);
    const { config, notes } = await loadConfig({ environment: {}, directory: folder });
    const { available, search, ...rest } = config;
    assert.deepEqual(
      search.targets.map((target) => target.engine),
      ['tavily', 'wikipedia'],
    );
    assert.ok(available.length > 10, 'known providers wait for a key');
    assert.deepEqual(rest, {
      bind: { host: '127.0.0.1', port: 1337 },
      dataDir: defaultDataDir({}),
      logLevel: 'info',
      workers: 1,
      allowedHosts: [],
      allowedOrigins: [],
      trustedProxies: ['loopback'],
      detectLocal: true,
      embedded: { enabled: true, modelsDir: path.join(defaultDataDir({}), 'models'), parallel: 2 },
      providers: [],
      disabled: [],
      aliases: new Map(),
      routing: { choice: 'order', weights: new Map(), aliases: new Map() },
      proxy: { direct: [] },
      observe: defaultObserve,
      limits: defaultLimits,
    });
    assert.deepEqual(notes, []);
  });

  test('the documented form', async (context) => {
    const folder = temporaryFolder(context);
    const config = await loadYaml(folder, EXAMPLE, { environment: { MOCK_KEY: 'planted-key' } });
    assert.deepEqual(config.bind, { host: '127.0.0.1', port: 1337 });
    assert.equal(config.dataDir, path.join(folder, 'data'));
    assert.equal(config.file, path.join(folder, 'sluice.yaml'));
    assert.deepEqual(config.providers, [
      {
        id: 'mock',
        kind: 'openai',
        label: 'Mock',
        origin: 'file',
        baseUrl: 'http://127.0.0.1:18080/v1',
        apiKey: 'planted-key',
        keyVariable: 'MOCK_KEY',
        needsKey: true,
        keyHeader: 'authorization',
        headers: {},
        models: ['mock-fast'],
        settings: {},
      },
    ]);
    assert.deepEqual([...config.aliases], [['fast', ['mock/mock-fast']]]);
    assert.deepEqual(config.limits, { ...defaultLimits, connectMs: 10_000, firstByteMs: 120_000, idleMs: 60_000 });
  });

  test('flags beat the environment, the environment beats the file', async (context) => {
    const folder = temporaryFolder(context);
    const yaml = 'bind: :1\ndataDir: file\ndatabase: postgres://file/a\nlogLevel: error\nkey: file-key\n';
    const environment = {
      SLUICE_BIND: '2',
      SLUICE_DATA_DIR: 'variable',
      SLUICE_DATABASE: 'postgres://variable/a',
      SLUICE_LOG_LEVEL: 'warn',
      SLUICE_KEY: 'variable-key',
    };
    const flags = {
      bind: '[::1]:3',
      dataDir: 'flag',
      database: 'postgresql://flag/a',
      logLevel: 'debug',
      key: 'flag-key',
    };
    const values = async (options: object) => {
      const { bind, dataDir, database, logLevel, key } = await loadYaml(folder, yaml, { environment: {}, ...options });
      return [bind.port, path.relative(folder, dataDir), database, logLevel, key];
    };
    assert.deepEqual(await values({}), [1, 'file', 'postgres://file/a', 'error', 'file-key']);
    assert.deepEqual(await values({ environment }), [2, 'variable', 'postgres://variable/a', 'warn', 'variable-key']);
    assert.deepEqual(await values({ environment, flags }), [3, 'flag', 'postgresql://flag/a', 'debug', 'flag-key']);
    assert.deepEqual(await values({ environment: { SLUICE_BIND: ' ' } }), [
      1,
      'file',
      'postgres://file/a',
      'error',
      'file-key',
    ]);
  });

  test('--config beats SLUICE_CONFIG beats ./sluice.yaml; paths are relative to the file', async (context) => {
    const folder = temporaryFolder(context);
    const other = temporaryFolder(context);
    writeFileSync(path.join(folder, 'sluice.yaml'), 'logLevel: error\n');
    writeFileSync(path.join(other, 'a.yaml'), 'logLevel: warn\n');
    writeFileSync(
      path.join(other, 'b.yaml'),
      'logLevel: debug\ndataDir: here\nembedded: {modelsDir: ../m, threads: 3}\n',
    );
    const environment = { SLUICE_CONFIG: path.join(other, 'a.yaml') };
    const flags = { config: path.relative(folder, path.join(other, 'b.yaml')) };
    const load = async (options: object) =>
      (await loadConfig({ environment: {}, directory: folder, ...options })).config;
    assert.equal((await load({})).logLevel, 'error');
    assert.equal((await load({ environment })).logLevel, 'warn');
    const config = await load({ environment, flags });
    assert.equal(config.logLevel, 'debug');
    assert.equal(config.dataDir, path.join(other, 'here'));
    assert.deepEqual(config.embedded, {
      enabled: true,
      modelsDir: path.join(path.dirname(other), 'm'),
      parallel: 2,
      threads: 3,
    });
  });

  test('a key that only begins like a variable of a shell is one', async (context) => {
    for (const key of ['$A1_xyz', '$SOME-KEY', '$KEY', 'os.environ', '{env}'])
      assert.equal((await loadYaml(temporaryFolder(context), `key: '${key}'\n`)).key, key);
  });

  test('a variable may stand for a number or a switch, where one is wanted', async (context) => {
    const yaml = `workers: \${TWO}
detectLocal: \${OFF}
key: \${TWO}
limits: {drainMs: "\${TWO}", idleMs: 3}
providers: {mock: {kind: openai, baseUrl: "http://h/v1", weight: "\${HALF}", models: ["\${TWO}"]}}
aliases: {mixed: {models: [{model: mock/x, weight: "\${HALF}"}, {model: mock/y}]}}
`;
    const environment = { TWO: '2', OFF: 'false', HALF: '0.5' };
    const config = await loadYaml(temporaryFolder(context), yaml, { environment });
    assert.deepEqual(
      [config.workers, config.detectLocal, config.key, config.limits.drainMs, config.limits.idleMs],
      [2, false, '2', 2, 3],
    );
    assert.deepEqual([config.routing.weights.get('mock'), config.providers[0]?.models], [0.5, ['2']]);
    assert.deepEqual(
      [...(config.routing.aliases.get('mixed')?.weights ?? [])],
      [
        ['mock/x', 0.5],
        ['mock/y', 1],
      ],
    );
  });

  test('the data folder follows the conventions of the system', () => {
    const home = homedir();
    assert.equal(defaultDataDir({}, 'linux'), path.join(home, '.local/share/sluice'));
    assert.equal(defaultDataDir({ XDG_DATA_HOME: '/x' }, 'linux'), '/x/sluice');
    assert.equal(defaultDataDir({ XDG_DATA_HOME: 'relative' }, 'linux'), path.join(home, '.local/share/sluice'));
    assert.equal(defaultDataDir({}, 'darwin'), path.join(home, 'Library/Application Support/sluice'));
    assert.equal(defaultDataDir({ LOCALAPPDATA: '/l' }, 'win32'), path.join('/l', 'sluice'));
  });

  test('a home folder is written ~', async (context) => {
    const config = await loadYaml(temporaryFolder(context), 'dataDir: ~/sluice-data\n');
    assert.equal(config.dataDir, path.join(homedir(), 'sluice-data'));
  });

  test('forms of bind in the file', async (context) => {
    const folder = temporaryFolder(context);
    const bindOf = async (value: string) => (await loadYaml(folder, `bind: ${value}\nkey: none\n`)).bind;
    assert.deepEqual(await bindOf('8080'), { host: '127.0.0.1', port: 8080 });
    assert.deepEqual(await bindOf('"[::1]:8080"'), { host: '::1', port: 8080 });
    assert.deepEqual(await bindOf(':8080'), { host: '0.0.0.0', port: 8080 });
    assert.deepEqual(await bindOf('localhost:8080'), { host: 'localhost', port: 8080 });
  });

  test('a key is made up beyond loopback, unless one is given or refused', async (context) => {
    const folder = temporaryFolder(context);
    const keys = async (yaml: string, flags = {}) => {
      const { key, keyGenerated } = await loadYaml(folder, yaml, { flags });
      return { key, keyGenerated };
    };
    const none = { key: undefined, keyGenerated: undefined };
    assert.deepEqual(await keys('bind: 127.0.0.1:1\n'), none);
    const [one, other] = [await keys('bind: :1\n'), await keys('bind: :1\n')];
    assert.equal(one.keyGenerated, true);
    assert.match(one.key ?? '', /^[\w-]{22,}$/);
    assert.notEqual(one.key, other.key);
    assert.deepEqual(await keys('bind: :1\nkey: none\n'), none);
    assert.deepEqual(await keys('bind: :1\nkey: mine\n', { key: false }), none);
    assert.deepEqual(await keys('bind: :1\nkey: none\n', { key: 'mine' }), { ...none, key: 'mine' });
    assert.deepEqual(await keys('key: mine\n'), { ...none, key: 'mine' });
  });

  test('variables are filled in anywhere, and sections without content are left out', async (context) => {
    const yaml =
      'bind: ${HOST}:${PORT}\nallowedHosts: ["a.${DOMAIN}"]\naliases: {x: ["p/${M}", y]}\nlimits:\nproviders:\n';
    const environment = { HOST: '127.0.0.1', PORT: '99', DOMAIN: 'example.org', M: 'a: b # {c}' };
    const config = await loadYaml(temporaryFolder(context), yaml, { environment });
    assert.deepEqual(config.bind, { host: '127.0.0.1', port: 99 });
    assert.deepEqual(config.allowedHosts, ['a.example.org']);
    assert.deepEqual(config.aliases.get('x'), ['p/a: b # {c}', 'y']);
    assert.deepEqual(config.limits, defaultLimits);
  });

  test('the result cannot be changed', async (context) => {
    const config = await loadYaml(temporaryFolder(context), EXAMPLE, { environment: { MOCK_KEY: 'k' } });
    const throwing: (() => unknown)[] = [
      () => Object.assign(config, { dataDir: '/' }),
      () => Object.assign(config.limits, { connectMs: 1 }),
      () => Object.assign(config.providers[0] ?? {}, { apiKey: 'x' }),
      () => config.providers.map((provider) => (provider.models as string[]).push('x')),
      () => (config.aliases as Map<string, unknown>).set('x', []),
      () => (config.aliases.get('fast') as string[]).push('x'),
    ];
    for (const attempt of throwing) assert.throws(attempt, TypeError, String(attempt));
  });

  test('prototype names are names like others', async (context) => {
    const folder = temporaryFolder(context);
    const config = await loadYaml(folder, 'aliases: {constructor: a/b, toString: c/d}\n');
    assert.deepEqual([...config.aliases.keys()], ['constructor', 'toString']);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });
});
