// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the file, not of JavaScript
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { problemsOfYaml, temporaryFolder } from '../../test/support/config-folder.ts';
import { PROVIDER_KINDS } from './kinds.ts';
import { loadConfig } from './load.ts';
import { ConfigError, pathText } from './problems.ts';
import { fileSchema } from './schema.ts';

const BIND = 'host:port, [IPv6 address]:port, :port (all interfaces) or a port (loopback), with a port from 0 to 65535';
const TOP = Object.keys(fileSchema.shape).join(', ');
const KINDS = PROVIDER_KINDS.join(', ');
const MILLISECONDS = 'a whole number of milliseconds from 1 to 2147483647';
const ID = 'up to 64 lower case letters, digits, ".", "_" and "-", the first a letter or digit';
const TARGET = 'a model or provider/model, or a list of them, or a map with choice and models';
const ADDRESS =
  'an http or https address such as https://host/v1, without user name, password, query, fragment or /chat/completions';
const SERVER = 'an http or https address such as http://127.0.0.1:8080, without user name, password, query or fragment';

describe('every wrong value is named with what was given and what is allowed', () => {
  const cases: [name: string, yaml: string, ...lines: string[]][] = [
    ['unknown key', 'provders: {}', `sluice.yaml:1: provders: unknown key; did you mean "providers"? allowed: ${TOP}`],
    ['unknown key, nothing near', 'colour: red', `sluice.yaml:1: colour: unknown key; allowed: ${TOP}`],
    ['bind without port', 'bind: localhost', `sluice.yaml:1: bind: got "localhost"; allowed: ${BIND}`],
    ['bind out of range', 'bind: 70000', `sluice.yaml:1: bind: got 70000; allowed: ${BIND}`],
    ['word', 'logLevel: loud', 'sluice.yaml:1: logLevel: got "loud"; allowed: debug, info, warn, error, silent'],
    ['workers', 'workers: many', 'sluice.yaml:1: workers: got "many"; allowed: auto, or a whole number from 1 to 256'],
    ['no workers', 'workers: 0', 'sluice.yaml:1: workers: got 0; allowed: auto, or a whole number from 1 to 256'],
    ['switch', 'detectLocal: maybe', 'sluice.yaml:1: detectLocal: got "maybe"; allowed: true or false'],
    [
      'database that is none of PostgreSQL',
      'database: mysql://me:planted/password@host/x',
      'sluice.yaml:1: database: got a text, which is hidden here; allowed: the address of a PostgreSQL database such as postgres://user:password@host:5432/sluice',
    ],
    [
      'database without a name',
      'database: postgres://me:planted@host',
      'sluice.yaml:1: database: got a text, which is hidden here; allowed: the address of a PostgreSQL database such as postgres://user:password@host:5432/sluice',
    ],
    ['text', 'dataDir: [a]', 'sluice.yaml:1: dataDir: got a list; allowed: a path'],
    [
      'range of addresses',
      'trustedProxies: [10.0.0.0/8, proxy.example.org]',
      'sluice.yaml:1: trustedProxies[1]: got "proxy.example.org"; allowed: an address or a range such as 10.0.0.0/8, or loopback, linklocal or uniquelocal (private networks)',
    ],
    ['list', 'allowedHosts: a', 'sluice.yaml:1: allowedHosts: got a text; allowed: a list of host names'],
    [
      'item of a list',
      'allowedHosts:\n  - good\n  - bad:80',
      'sluice.yaml:3: allowedHosts[1]: got "bad:80"; allowed: a host name or address such as sluice.example.org, without scheme and port',
    ],
    [
      'any origin',
      'allowedOrigins: ["*"]',
      'sluice.yaml:1: allowedOrigins[0]: got "*"; allowed: an origin such as https://chat.example.org, without a path; * is not possible',
    ],
    ['section', 'limits: 3', 'sluice.yaml:1: limits: got 3; allowed: a map of limits'],
    ['number as text', 'limits:\n  idleMs: 10s', `sluice.yaml:2: limits.idleMs: got "10s"; allowed: ${MILLISECONDS}`],
    ['number too small', 'limits: {idleMs: -1}', `sluice.yaml:1: limits.idleMs: got -1; allowed: ${MILLISECONDS}`],
    [
      'number too large',
      'limits: {idleMs: 1.0e12}',
      `sluice.yaml:1: limits.idleMs: got 1000000000000; allowed: ${MILLISECONDS}`,
    ],
    [
      'fraction',
      'limits: {attempts: 1.5}',
      'sluice.yaml:1: limits.attempts: got 1.5; allowed: a whole number from 1 to 20',
    ],
    ['the whole file', '- a\n- b', 'sluice.yaml: got a list; allowed: a map of settings'],
    [
      'provider id',
      'providers: {Mock: {}}',
      `sluice.yaml:1: providers.Mock: "Mock" is no possible name here; allowed: ${ID}`,
    ],
    [
      'a name that no map can have',
      'providers:\n  __proto__: { kind: openai, baseUrl: "http://a/v1" }\naliases: { __proto__: a/b }\n__proto__: 1',
      'sluice.yaml:2: providers.__proto__: "__proto__" is no possible name; choose another one',
      'sluice.yaml:3: aliases.__proto__: "__proto__" is no possible name; choose another one',
      'sluice.yaml:4: __proto__: "__proto__" is no possible name; choose another one',
    ],
    [
      'provider kind',
      'providers: {mock: {kind: opneai}}',
      `sluice.yaml:1: providers.mock.kind: got "opneai"; allowed: ${KINDS}`,
    ],
    [
      'provider without kind',
      'providers: {mock: {}}',
      `sluice.yaml:1: providers.mock.kind: got nothing, and "mock" is not a provider that Sluice knows; allowed: ${KINDS}`,
    ],
    [
      'provider mistyped',
      'providers: {opnai: {apiKey: k}}',
      `sluice.yaml:1: providers.opnai.kind: got nothing, and "opnai" is not a provider that Sluice knows; did you mean the provider "openai"? allowed: ${KINDS}`,
    ],
    [
      'provider without address',
      'providers: {mock: {kind: openai}}',
      'sluice.yaml:1: providers.mock.baseUrl: got nothing; allowed: the address of the upstream, such as https://host/v1',
    ],
    [
      'address of another scheme',
      'providers: {mock: {kind: openai, baseUrl: "ftp://h"}}',
      `sluice.yaml:1: providers.mock.baseUrl: got "ftp://h"; allowed: ${ADDRESS}`,
    ],
    [
      'the id of the embedded model',
      'providers: {embedded: {}}',
      'sluice.yaml:1: providers.embedded.kind: the id "embedded" is taken by the model inside Sluice; allowed: any other id, or the section embedded',
    ],
    [
      'the id of the embedded voice',
      'providers: {flite: {kind: openai, baseUrl: "http://h/v1"}}',
      'sluice.yaml:1: providers.flite.kind: the id "flite" is taken by the voice inside Sluice; allowed: any other id, or the section embedded',
    ],
    [
      'header of the connection',
      'providers: {openai: {headers: {Host: x}}}',
      'sluice.yaml:1: providers.openai.headers.Host: "Host" is no possible name here; allowed: the name of a header, not one that belongs to the connection (Host, Connection, Content-Length, …)',
    ],
    [
      'no models',
      'providers: {openai: {models: []}}',
      'sluice.yaml:1: providers.openai.models: got an empty list; allowed: at least one model; without this key the upstream is asked',
    ],
    ['alias', 'aliases: {fast: 3}', `sluice.yaml:1: aliases.fast: got 3; allowed: ${TARGET}`],
    ['alias of nothing', 'aliases: {fast: []}', `sluice.yaml:1: aliases.fast: got an empty list; allowed: ${TARGET}`],
    [
      'alias with another choice',
      'aliases: {fast: {choice: best, models: [a]}}',
      'sluice.yaml:1: aliases.fast.choice: got "best"; allowed: order, weighted, latency',
    ],
    [
      'alias with a key that is none',
      'aliases: {fast: {models: [{model: a, weigth: 3}]}}',
      'sluice.yaml:1: aliases.fast.models[0].weigth: unknown key; did you mean "weight"? allowed: model, weight',
    ],
    [
      'alias with one model as a map',
      'aliases:\n  fast: {model: a}',
      'sluice.yaml:2: aliases.fast.models: got nothing; allowed: a list of models, each a name or a map of model and weight',
      'sluice.yaml:2: aliases.fast.model: unknown key; did you mean "models"? allowed: choice, models',
    ],
    [
      'a variable that is no number',
      'limits: {drainMs: "${WORD}"}\ndetectLocal: ${WORD}',
      `sluice.yaml:1: limits.drainMs: got "\${WORD}"; allowed: ${MILLISECONDS}`,
      'sluice.yaml:2: detectLocal: got "${WORD}"; allowed: true or false',
    ],
    [
      'a variable whose number is too large',
      'workers: ${LARGE}',
      'sluice.yaml:1: workers: got "${LARGE}"; allowed: auto, or a whole number from 1 to 256',
    ],
    [
      'missing variable',
      'providers:\n  mock:\n    kind: openai\n    baseUrl: http://h/v1\n    apiKey: ${MOCK_KEY}',
      'sluice.yaml:5: providers.mock.apiKey: the environment variable MOCK_KEY is not set; set it, or write the value itself',
    ],
    [
      'empty variable',
      'dataDir: /x/${EMPTY}',
      'sluice.yaml:1: dataDir: the environment variable EMPTY is empty; set it, or write the value itself',
    ],
    [
      'variable of an address that Sluice knows',
      'providers: {azure: {apiKey: k}}',
      'sluice.yaml:1: providers.azure.baseUrl: the environment variable AZURE_OPENAI_RESOURCE_NAME is not set; set it, or settings.AZURE_OPENAI_RESOURCE_NAME of this provider',
    ],
    [
      'an address of a collector',
      'observe: {otelEndpoint: collector}',
      `sluice.yaml:1: observe.otelEndpoint: got "collector"; allowed: ${SERVER}`,
    ],
    [
      'an address of a search engine',
      'search: {engine: searxng, url: searx.example.org}',
      `sluice.yaml:1: search.url: got "searx.example.org"; allowed: ${SERVER}`,
    ],
    [
      'no name of a variable',
      'dataDir: ${my dir}',
      'sluice.yaml:1: dataDir: what stands in the braces does not name an environment variable; allowed: letters, digits and _',
    ],
    [
      "a variable in LiteLLM's form",
      'providers: {openai: {apiKey: os.environ/OPENAI_API_KEY}}',
      'sluice.yaml:1: providers.openai.apiKey: an environment variable is written ${OPENAI_API_KEY} here',
    ],
    [
      "a variable in OpenCode's form",
      'providers: {openai: {apiKeys: ["{env:FIRST_KEY}", k]}}',
      'sluice.yaml:1: providers.openai.apiKeys[0]: an environment variable is written ${FIRST_KEY} here',
    ],
    [
      "a variable in a shell's form",
      'key: $SLUICE_ACCESS_KEY',
      'sluice.yaml:1: key: an environment variable is written ${SLUICE_ACCESS_KEY} here',
    ],
    ['YAML syntax', 'bind: "x', 'sluice.yaml:1:9: not valid YAML: Missing closing "quote'],
    ['YAML duplicate key', 'bind: 1\nbind: 2', 'sluice.yaml:2:1: not valid YAML: the key "bind" is there twice'],
    [
      'YAML duplicate key that is a key',
      'a: {"sk-planted-key": 1, "sk-planted-key": 2}',
      'sluice.yaml:1:26: not valid YAML: the key a text that looks like a key is there twice',
    ],
    [
      'YAML placeholder between braces',
      'providers: {mock: {apiKey: ${KEY}}}',
      'sluice.yaml:1:29: not valid YAML: Unexpected flow-map-start at node end; quote a text with ${…} here',
    ],
    [
      'YAML placeholder between brackets',
      'allowedHosts: [a, ${HOST}]',
      'sluice.yaml:1:20: not valid YAML: Missing , or : between flow sequence items; quote a text with ${…} here',
    ],
    ['YAML tag', 'dataDir: !x y', 'sluice.yaml:1:10: not valid YAML: Unresolved tag'],
    ['YAML tag that is a key', 'dataDir: !sk-key', 'sluice.yaml:1:10: not valid YAML: Unresolved tag'],
    ['YAML tag without end', 'dataDir: !<sk-key', 'sluice.yaml:1:10: not valid YAML: Verbatim tags must end with a >'],
    [
      'YAML alias that is a key',
      'dataDir: *sk-key',
      'sluice.yaml:1:10: not valid YAML: an alias without an anchor before it; quote a text that begins with *',
    ],
    [
      'YAML block that is a key',
      'dataDir: |sk-key',
      'sluice.yaml:1:11: not valid YAML: Block scalar header includes extra characters',
    ],
    ['YAML directive', '%sk-key\n---\nbind: 1', 'sluice.yaml:1:1: not valid YAML: Unknown directive …'],
    ['YAML known tag', 'dataDir: !!binary aGk=', 'sluice.yaml:1:10: not valid YAML: Unresolved tag'],
    [
      'YAML documents',
      'bind: 1\n---\nbind: 2',
      'sluice.yaml:2:1: not valid YAML: Source contains multiple documents; please use YAML.parseAllDocuments()',
    ],
    ['YAML alias in itself', 'aliases: &a [*a, *a, *a]', 'sluice.yaml:1: aliases: is nested deeper than 20 levels'],
    [
      'YAML aliases without end',
      'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c]',
      'sluice.yaml: not valid YAML: Excessive alias count indicates a resource exhaustion attack',
    ],
  ];
  const environment = { EMPTY: '', WORD: 'word', LARGE: '1000' };
  for (const [name, yaml, ...lines] of cases) {
    test(name, async (context) => {
      assert.deepEqual(await problemsOfYaml(temporaryFolder(context), yaml, { environment }), lines);
    });
  }

  test('all at once, in the order of the file, after flags and variables', async (context) => {
    const yaml = 'logLevel: loud\nproviders:\n  mock: {kind: openai}\n  b: {kind: x}\nlimits: {idelMs: 1}\nbind: x\n';
    const options = { flags: { bind: 'nowhere' }, environment: { SLUICE_LOG_LEVEL: 'louder', SLUICE_KEY: 'a b' } };
    const lines = await problemsOfYaml(temporaryFolder(context), yaml, options);
    assert.deepEqual(lines.slice(0, 4), [
      `--bind: got "nowhere"; allowed: ${BIND}`,
      'SLUICE_LOG_LEVEL: got "louder"; allowed: debug, info, warn, error, silent',
      'SLUICE_KEY: got a text, which is hidden here; allowed: a text of visible ASCII characters without blanks, or none',
      'sluice.yaml:1: logLevel: got "loud"; allowed: debug, info, warn, error, silent',
    ]);
    const places = lines.slice(4).map((line) => line.split(': ').slice(0, 2).join(' '));
    assert.deepEqual(places, [
      'sluice.yaml:3 providers.mock.baseUrl',
      'sluice.yaml:4 providers.b.kind',
      'sluice.yaml:5 limits.idelMs',
      'sluice.yaml:6 bind',
    ]);
  });

  test('a provider that is off may lack its variable', async (context) => {
    const yaml = 'providers: {mock: {kind: openai, baseUrl: "http://h", apiKey: "${NOPE}", enabled: false}}\nbind: x';
    const lines = await problemsOfYaml(temporaryFolder(context), yaml);
    assert.deepEqual(lines, [`sluice.yaml:2: bind: got "x"; allowed: ${BIND}`]);
  });
});

describe('a file that cannot be read', () => {
  const linesOf = async (folder: string, config: string) => {
    const options = { directory: folder, environment: {}, flags: { config } };
    return await loadConfig(options).catch((error) => (error instanceof ConfigError ? error.problems : error));
  };

  test('is named with the reason', async (context) => {
    const folder = temporaryFolder(context);
    mkdirSync(path.join(folder, 'folder.yaml'));
    writeFileSync(path.join(folder, 'latin1.yaml'), Buffer.from([0x61, 0x3a, 0xe4]));
    writeFileSync(path.join(folder, 'large.yaml'), '#'.repeat(1_024 * 1_024 + 1));
    assert.deepEqual(await linesOf(folder, 'none.yaml'), ['--config: cannot read none.yaml: there is no such file']);
    assert.deepEqual(await linesOf(folder, 'folder.yaml'), ['--config: cannot read folder.yaml: it is a folder']);
    assert.deepEqual(await linesOf(folder, 'latin1.yaml'), ['--config: cannot read latin1.yaml: it is not UTF-8 text']);
    assert.deepEqual(await linesOf(folder, 'large.yaml'), ['--config: large.yaml is larger than 1048576 bytes']);
    const options = { directory: folder, environment: { SLUICE_CONFIG: '/nowhere/x.yaml' } };
    await assert.rejects(loadConfig(options), {
      message: 'SLUICE_CONFIG: cannot read /nowhere/x.yaml: there is no such file',
    });
  });

  test('without permission', { skip: process.getuid?.() === 0 && 'root may read everything' }, async (context) => {
    const folder = temporaryFolder(context);
    writeFileSync(path.join(folder, 'a.yaml'), '');
    chmodSync(path.join(folder, 'a.yaml'), 0);
    assert.deepEqual(await linesOf(folder, 'a.yaml'), ['--config: cannot read a.yaml: no permission to read it']);
  });
});

test('no problem shows a secret', async (context) => {
  const secret = 'planted-secret-0123456789';
  const yaml = `
key: [${secret}]
bind: sk-${secret}
providers:
  a: ${secret}
  b: {kind: openai, baseUrl: "https://user:${secret}@host/v1", apiKey: "${secret} x", headers: {x-a: ["${secret}"]}}
  c: {kind: openai, baseUrl: "ftp://host/v1?key=${secret}", settings: {token: ["${secret}"]}}
  d: {kind: openai, baseUrl: "\${FROM_ENVIRONMENT}"}
  e: {kind: openai, apikey: ${secret}, models: ${secret}}
  f: {kind: openai, baseUrl: "http://h", apiKeys: ["${secret} x"]}
limits: {idleMs: "\${FROM_ENVIRONMENT}"}
logLevel: "\${FROM_ENVIRONMENT}"
`;
  const environment = { FROM_ENVIRONMENT: `from-environment-${secret}`, SLUICE_KEY: `${secret} x` };
  const lines = await problemsOfYaml(temporaryFolder(context), yaml, { environment });
  assert.ok(lines.length >= 12, lines.join('\n'));
  assert.ok(!lines.join('\n').includes(secret), lines.join('\n'));
  assert.ok(
    lines.includes('sluice.yaml:12: logLevel: got "${FROM_ENVIRONMENT}"; allowed: debug, info, warn, error, silent'),
  );
});

test('paths are written as in code', () => {
  assert.equal(pathText(['providers', 'mock', 'models', 0]), 'providers.mock.models[0]');
  assert.equal(pathText(['aliases', 'a b.c']), 'aliases["a b.c"]');
});
