// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the file, not of JavaScript
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { createServer as createSecureServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/config-folder.ts';
import { listing, plainServer, unusedPort } from '../support/plain-server.ts';
import { noPostgres, PostgresServer } from '../support/postgres-server.ts';
import { runSluice, startSluice } from '../support/run-sluice.ts';
import { secureIdentity, secureServer } from '../support/secure-server.ts';

interface Options {
  readonly yaml?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
  readonly command?: string;
}

/** A database whose first page says how many there are, and whose others stand in the log beside it; of these files those of `names`. */
function writeHalfCopied(folder: string, names: readonly string[]): void {
  const whole = path.join(folder, 'whole');
  mkdirSync(whole);
  const database = new DatabaseSync(path.join(whole, 'sluice.db'));
  try {
    database.exec('pragma journal_mode = wal; create table words (word); pragma wal_checkpoint(truncate)');
    database.exec('insert into words values (zeroblob(100000))');
    for (const name of names) copyFileSync(path.join(whole, name), path.join(folder, name));
    database.exec('pragma wal_checkpoint(truncate)');
    const pageSize = Number(database.prepare('pragma page_size').get()?.['page_size']);
    const file = openSync(path.join(folder, 'sluice.db'), 'r+');
    writeSync(file, readFileSync(path.join(whole, 'sluice.db')), 0, pageSize, 0);
    closeSync(file);
  } finally {
    database.close();
    rmSync(whole, { recursive: true });
  }
}

/** What `sluice doctor` says in a folder of its own, as lines without their indentation. */
async function examine(context: TestContext, { yaml, environment, words = [], command = 'doctor' }: Options = {}) {
  const folder = temporaryFolder(context);
  if (yaml !== undefined) writeFileSync(path.join(folder, 'sluice.yaml'), yaml);
  const bind = ['--bind', `127.0.0.1:${await unusedPort()}`];
  const ended = await runSluice(context, [command, ...bind, ...words], { folder, ...(environment && { environment }) });
  const lines = ended.stdout.split('\n').map((line) => line.trim());
  /** The line that begins so, and the advice below it. */
  const finding = (start: string): string => {
    const index = lines.findIndex((line) => line.startsWith(start));
    assert.notEqual(index, -1, `no line begins with ${JSON.stringify(start)} in:\n${ended.stdout}${ended.stderr}`);
    const advice = lines[index + 1] ?? '';
    return advice.startsWith('→') ? `${lines[index]} ${advice}` : (lines[index] ?? '');
  };
  return { ...ended, folder, lines, finding, wrong: lines.filter((line) => line.startsWith('✗')) };
}

function writeNewer(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('create table schema_versions (version integer primary key)');
  database.exec('insert into schema_versions values (999)');
  database.close();
}

function writeCut(file: string, missing: number): void {
  const database = new DatabaseSync(file);
  database.exec(`create table some (text text); insert into some values ('${'x'.repeat(50_000)}')`);
  database.close();
  truncateSync(file, statSync(file).size - missing);
}

const NO_LOCAL = 'detectLocal: false\n';

describe('sluice doctor', () => {
  test('without any configuration: nothing is wrong, and it says how to add a provider', async (context) => {
    const { code, stderr, folder, finding, wrong, stdout } = await examine(context);
    assert.deepEqual([code, stderr, wrong], [0, '', []]);
    const looked = path.join(folder, 'sluice.yaml');
    assert.equal(finding('✓ no conf'), `✓ no configuration file, and none is needed (looked for ${looked})`);
    assert.equal(finding('✓ variables'), '✓ variables that count here: SLUICE_DATA_DIR');
    assert.equal(
      finding('! no provider'),
      '! no provider has a key or is named in sluice.yaml → to add one: export OPENAI_API_KEY=… (or ANTHROPIC_API_KEY, GEMINI_API_KEY, GROQ_API_KEY, …), or write sluice.yaml',
    );
    assert.match(finding('✓ Node'), /^✓ Node \d+\.\d+\.\d+ on \w+ \w+, \d+ cores/);
    assert.match(finding('✓ data folder'), /can be written, [\d.]+ GB are free/);
    assert.match(stdout, /\nEmbedded model\n/);
    assert.match(stdout, /\nNothing is wrong\.\n$/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the control character of colours
    assert.doesNotMatch(stdout, /\x1b/);
  });

  test('the proxy is named that leads to providers, without its password', async (context) => {
    const { finding, stdout, lines } = await examine(context, {
      environment: { HTTPS_PROXY: 'http://me:hunter22@proxy.example:3128', no_proxy: '10.0.0.0/8,inside.example' },
    });
    assert.equal(
      finding('✓ providers by https'),
      '✓ providers by https are reached through proxy.example:3128 (HTTPS_PROXY), except 10.0.0.0/8, inside.example',
    );
    assert.ok(!lines.some((line) => line.includes('providers by http are')));
    assert.ok(!stdout.includes('hunter22'));
  });

  test('a name for a proxy in front, and nobody who asks for a key', async (context) => {
    const yaml = `${NO_LOCAL}allowedHosts: [sluice.example, chat.example]\n`;
    const { finding } = await examine(context, { yaml });
    assert.match(
      finding('! listens on'),
      /asks nobody for a key: whoever reaches it as sluice\.example or chat\.example, through a proxy, can use your providers → set SLUICE_KEY, or key in sluice\.yaml, unless/,
    );
    const keyed = await examine(context, { yaml, environment: { SLUICE_KEY: 'planted-key-of-some-length' } });
    assert.match(keyed.finding('✓ listens on'), /for this machine only, with an access key$/);
  });

  test('an address that others reach, and who needs which key there', async (context) => {
    const words = ['--bind', `0.0.0.0:${await unusedPort()}`];
    for (const [key, start, expected] of [
      [undefined, '! listens', /reachable from elsewhere; every start makes up another access key → .* SLUICE_KEY/],
      ['none', '! listens', /asks nobody for a key, as was wished: everybody who reaches it .* → set SLUICE_KEY/],
      ['fifteen-letters', '! listens', /with an access key of only 15 characters → take one of 16 or more/],
      ['sixteen-letters-', '✓ listens', /^✓ listens on 0\.0\.0\.0:\d+, with an access key$/],
    ] as const) {
      const environment = key === undefined ? {} : { SLUICE_KEY: key };
      const { finding, stdout } = await examine(context, { yaml: NO_LOCAL, words, environment });
      assert.match(finding(start), expected);
      assert.ok(key === undefined || key === 'none' || !stdout.includes(key));
    }
  });

  test('a wrong key is named with its variable, the status and where to make a new one', async (context) => {
    const upstream = await plainServer(context, listing(['m'], 'right'));
    const yaml = `${NO_LOCAL}providers: {groq: {baseUrl: "${upstream.url}/v1"}}\n`;
    const { code, finding, wrong, stdout, stderr } = await examine(context, {
      yaml,
      environment: { GROQ_API_KEY: 'planted-wrong-key' },
    });
    assert.equal(code, 1);
    assert.equal(
      finding('✗ groq'),
      '✗ groq: Groq refused the key in GROQ_API_KEY (401) → make a new one at https://console.groq.com/keys',
    );
    assert.equal(wrong.length, 1);
    assert.match(stdout, /\nOne thing is wrong: see the ✗ above\.\n$/);
    assert.doesNotMatch(stdout + stderr, /planted/);
  });

  test('a wrong key that the file holds is named with its place', async (context) => {
    const upstream = await plainServer(context, listing(['m'], 'right'));
    const entry = (key: string) => `{kind: openai, baseUrl: "${upstream.url}/v1", apiKey: "${key}"}`;
    const yaml = `${NO_LOCAL}providers: {one: ${entry('planted-in-file')}, two: ${entry('${TWO_KEY}')}}\n`;
    const { finding, folder, stdout, stderr } = await examine(context, {
      yaml,
      environment: { TWO_KEY: 'planted-in-env' },
    });
    const file = path.join(folder, 'sluice.yaml');
    assert.equal(
      finding('✗ one'),
      `✗ one: one refused the key in providers.one.apiKey of ${file} (401) → put in a valid one`,
    );
    assert.equal(finding('✗ two'), '✗ two: two refused the key in TWO_KEY (401) → put in a valid one');
    assert.doesNotMatch(stdout + stderr, /planted/);
  });

  test('a key that may not do this is told apart from a wrong one', async (context) => {
    const upstream = await plainServer(context, (_request, response) => {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(
        '{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}',
      );
    });
    const yaml = `${NO_LOCAL}providers: {one: {kind: google, baseUrl: "${upstream.url}", apiKey: "\${ONE_KEY}"}}\n`;
    const { finding } = await examine(context, { yaml, environment: { ONE_KEY: 'planted-key' } });
    assert.equal(
      finding('✗ one'),
      '✗ one: one does not permit its list of models to the key in ONE_KEY (403): The caller does not have permission → see what that key may do at https://aistudio.google.com/apikey',
    );
  });

  test('a dead upstream', async (context) => {
    const url = `http://127.0.0.1:${await unusedPort()}/v1`;
    const yaml = `${NO_LOCAL}providers: {mock: {kind: openai, baseUrl: "${url}"}}\n`;
    const { code, finding } = await examine(context, { yaml });
    assert.equal(code, 1);
    assert.equal(
      finding('✗ mock'),
      `✗ mock: nothing answers at ${url}: is the server running? → start it, or correct providers.mock.baseUrl`,
    );
  });

  test('a dead upstream is found although its models are fixed', async (context) => {
    const url = `http://127.0.0.1:${await unusedPort()}/v1`;
    const yaml = `${NO_LOCAL}providers: {mock: {kind: openai, baseUrl: "${url}", models: [a]}}\n`;
    assert.match((await examine(context, { yaml })).finding('✗ mock'), /nothing answers/);
  });

  test('an upstream that hangs, one that is no API, one that fails, one that limits', async (context) => {
    const silent = await plainServer(context, () => undefined);
    const page = await plainServer(context, (_request, response) => response.end('<html>hello</html>'));
    const status = async (code: number) =>
      (await plainServer(context, (_request, response) => response.writeHead(code).end())).url;
    const entry = (url: string) => `{kind: openai, baseUrl: "${url}"}`;
    const yaml = `${NO_LOCAL}providers:
  silent: ${entry(silent.url)}
  page: ${entry(page.url)}
  failing: ${entry(await status(500))}
  limiting: ${entry(await status(429))}
  lost: ${entry(await status(404))}
  fixed: {kind: openai, baseUrl: "${await status(404)}", models: [a, b]}
  closed: ${entry(await status(401))}
`;
    const { code, finding } = await examine(context, { yaml });
    assert.equal(code, 1);
    assert.match(finding('✗ silent'), /does not answer within 5 seconds: is the server running\? → start it/);
    assert.match(finding('✗ page'), /does not speak this API: .* → check providers\.page\.baseUrl: most end in \/v1$/);
    assert.match(finding('✗ failing'), /^✗ failing: failing fails \(50\d\): /);
    assert.match(finding('! limiting'), /^! limiting: limiting is limiting requests now \(429\) → try again later/);
    assert.match(
      finding('✗ lost'),
      /answers, but has no list of models \(404\) → check providers\.lost\.baseUrl .*providers\.lost\.models$/,
    );
    assert.equal(
      finding('! fixed'),
      '! fixed: fixed has no list of models (404); the 2 configured ones are offered unchecked',
    );
    assert.match(finding('✗ closed'), /^✗ closed: closed wants a key \(401\) → set providers\.closed\.apiKey/);
  });

  test('names that stand for nothing', async (context) => {
    const upstream = await plainServer(context, listing(['mock-fast', 'vendor/mock-large']));
    const dead = `http://127.0.0.1:${await unusedPort()}`;
    const yaml = `${NO_LOCAL}embedded: {enabled: false}
defaultProvider: mok
defaultModel: fast
providers:
  mock: {kind: openai, baseUrl: "${upstream.url}/v1", models: [mock-fast, mock-slow], defaultModel: mock-fats}
  dead: {kind: openai, baseUrl: "${dead}"}
  whole: {kind: openai, baseUrl: "${upstream.url}/v1"}
aliases:
  fast: mock/mock-fast
  bare: mock-fast
  slash: vendor/mock-large
  both: whole/vendor/mock-large
  typo: [mock/mock-fsat]
  gone: mock/nothing-like-it
  later: dead/model
`;
    const { finding } = await examine(context, { yaml });
    assert.equal(
      finding('✗ mock: the configured model "mock-slow"'),
      '✗ mock: the configured model "mock-slow" is not in the list of mock → it has mock-fast, vendor/mock-large: correct providers.mock.models',
    );
    assert.match(
      finding('✗ mock: the configured model "mock-fats"'),
      /→ did you mean "mock-fast"\? correct providers\.mock\.defaultModel$/,
    );
    assert.equal(finding('✓ the alias "fast"'), '✓ the alias "fast" stands for mock/mock-fast');
    for (const alias of ['bare', 'slash', 'both']) finding(`✓ the alias "${alias}"`);
    assert.equal(
      finding('✗ the alias "typo"'),
      '✗ the alias "typo" points to "mock/mock-fsat", which no provider offers → did you mean "mock-fast"? correct aliases.typo',
    );
    finding('✗ the alias "gone"');
    assert.equal(
      finding('! the alias "later"'),
      '! the alias "later" stands for dead/model, which cannot be checked while dead cannot be asked',
    );
    assert.match(finding('✗ the default provider'), /"mok" is not on → did you mean "mock"\?/);
    assert.equal(finding('✓ the default model'), '✓ the default model is the alias "fast"');
  });

  test('names by all the rules by which requests find their way', async (context) => {
    const upstream = await plainServer(context, listing(['m1', 'm2']));
    const yaml = `${NO_LOCAL}defaultProvider: flite
defaultModel: mock:m1
providers:
  mock: {kind: openai, label: The Mock, baseUrl: "${upstream.url}/v1", models: [m1]}
aliases:
  voice: flite/flite
  speaker: flite
  colon: mock:m1
  whole: mock
  labelled: The Mock/m1
  unlisted: mock/m2
  own: openrouter/some/model
`;
    const { code, finding, wrong } = await examine(context, { yaml });
    assert.deepEqual([code, wrong], [0, []]);
    for (const alias of ['voice', 'speaker', 'colon', 'whole', 'labelled', 'unlisted'])
      finding(`✓ the alias "${alias}"`);
    assert.equal(
      finding('! the alias "own"'),
      '! the alias "own" stands for openrouter/some/model, but openrouter has no key: it answers only requests that bring one → export OPENROUTER_API_KEY=… or set providers.openrouter.apiKey; a key is made at https://openrouter.ai/settings/keys',
    );
    assert.equal(finding('✓ the default provider'), '✓ the default provider is flite');
    assert.equal(finding('✓ the default model'), '✓ the default model stands for mock:m1');
    finding('✓ Embedded voice (Flite), the provider "flite", needs nothing.');
  });

  test('a provider without its key', async (context) => {
    const { code, finding } = await examine(context, {
      yaml: `${NO_LOCAL}providers: {groq: {}}\ndefaultProvider: mistral\n`,
    });
    assert.equal(code, 1);
    assert.match(finding('✗ the default provider'), /mistral has no key → export MISTRAL_API_KEY=… or set /);
    assert.equal(
      finding('✗ groq'),
      '✗ groq: Groq needs a key and has none → export GROQ_API_KEY=… or set providers.groq.apiKey; a key is made at https://console.groq.com/keys',
    );
  });

  test('a broken file is explained, and the rest is looked at without it', async (context) => {
    const yaml = 'logLevel: loud\nproviders: {mock: {kind: openai, baseUrl: "http://x", apiKey: "${MOCK_KEY}"}}\n';
    const { code, finding, stderr } = await examine(context, { yaml });
    assert.deepEqual([code, stderr], [1, '']);
    assert.equal(
      finding('✗ sluice.yaml:1'),
      '✗ sluice.yaml:1: logLevel: got "loud"; allowed: debug, info, warn, error, silent',
    );
    assert.match(finding('✗ sluice.yaml:2'), /MOCK_KEY is not set/);
    finding('! the file is left out');
    finding('✓ Node');
  });

  test('a broken flag or variable too, and the file counts', async (context) => {
    const { code, finding, folder, stdout } = await examine(context, {
      yaml: NO_LOCAL,
      words: ['--data-dir', ' '],
      environment: { SLUICE_LOG_LEVEL: 'loud', SLUICE_BIND: 'planted' },
    });
    assert.equal(code, 1);
    finding('✗ SLUICE_LOG_LEVEL: got "loud"');
    finding('✗ --data-dir: got " "');
    finding('! what is wrong there counts as not set in what follows');
    assert.equal(finding('✓ configuration file'), `✓ configuration file: ${path.join(folder, 'sluice.yaml')}`);
    finding('✓ listens on');
    finding('✓ Node');
    assert.doesNotMatch(stdout, /left out/);
  });

  test('a broken flag without any file', async (context) => {
    const { code, finding } = await examine(context, { words: ['--bind', 'here'] });
    assert.equal(code, 1);
    finding('✗ --bind: got "here"');
    finding('✓ no configuration file');
    finding('✓ listens on 127.0.0.1:1337');
  });

  test('every variable that counts is named, whoever reads it', async (context) => {
    const environment = {
      SLUICE_WORKERS: '1',
      SLUICE_REQUEST_LOG: 'meta',
      SEARXNG_URL: 'http://127.0.0.1:9',
      TAVILY_API_KEY: 'planted',
      OTEL_EXPORTER_OTLP_HEADERS: 'a=planted',
      AWS_REGION: 'eu-west-1',
      OTHER: 'x',
    };
    const { finding } = await examine(context, { environment });
    const [, named = ''] = finding('✓ variables').split(': ');
    assert.deepEqual(
      named.split(', ').sort(),
      ['SLUICE_DATA_DIR', ...Object.keys(environment)].filter((name) => name !== 'OTHER').sort(),
    );
  });

  test('a slip in the name of a variable is found', async (context) => {
    const { code, finding } = await examine(context, { environment: { SLUICE_KEYS: 'planted', SLUICE_OTHER: 'x' } });
    assert.equal(code, 0);
    assert.equal(
      finding('! SLUICE_'),
      '! SLUICE_KEYS is set, and Sluice reads no such variable; did you mean SLUICE_KEY?',
    );
  });

  test('a key in the environment that switches nothing on', async (context) => {
    const { code, finding } = await examine(context, { environment: { AZURE_OPENAI_API_KEY: 'planted-key' } });
    assert.equal(code, 0);
    finding(
      '! azure is off although AZURE_OPENAI_API_KEY is set: the environment variable AZURE_OPENAI_RESOURCE_NAME is not set',
    );
  });

  test('a key is not shown, though the provider quotes it', async (context) => {
    const { url } = await plainServer(context, (_, response) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"no luck with planted-in-the-file"}}');
    });
    const { finding, stdout } = await examine(context, {
      yaml: `${NO_LOCAL}providers: { acme: { kind: openai, baseUrl: '${url}/v1', apiKey: planted-in-the-file } }\n`,
    });
    assert.match(finding('✗ acme'), /fails \(500\): .*no luck with/);
    assert.doesNotMatch(stdout, /planted/);
  });

  test('a variable of observing that is not understood has no effect', async (context) => {
    const { code, finding } = await examine(context, { environment: { SLUICE_ACCESS_LOG: 'al' } });
    assert.equal(code, 0);
    finding('! SLUICE_ACCESS_LOG is not understood and has no effect; allowed: none, errors, all');
  });

  test('a port that something else uses', async (context) => {
    const { port } = await plainServer(context, (_request, response) => {
      response.setHeader('server', 'Other/1').end('hello');
    });
    const { code, finding } = await examine(context, { words: ['--bind', `127.0.0.1:${port}`] });
    assert.equal(code, 1);
    assert.equal(
      finding('✗ port'),
      `✗ port ${port} on 127.0.0.1 is in use by something that calls itself "Other/1" → end that program, or choose another port: --bind 127.0.0.1:${port + 1}`,
    );
  });

  test('a Sluice that runs already is no fault', async (context) => {
    const running = startSluice(context, ['--bind', '127.0.0.1:0'], { folder: temporaryFolder(context) });
    const [, address = ''] = await running.said(/Page +http:\/\/(\S+)\//);
    const { code, finding } = await examine(context, { words: ['--bind', address] });
    assert.equal(code, 0);
    assert.match(finding('! Sluice'), /^! Sluice \S+ is running on 127\.0\.0\.1:\d+ already$/);
  });

  test('neither is one that asks for its key, which nobody is shown', async (context) => {
    const environment = { SLUICE_KEY: 'planted-server-key' };
    const running = startSluice(context, ['--bind', '127.0.0.1:0'], { folder: temporaryFolder(context), environment });
    const [, address = ''] = await running.said(/Page +http:\/\/(\S+)\//);
    const { code, finding } = await examine(context, { words: ['--bind', address], environment });
    assert.equal(code, 0);
    assert.match(finding('! a Sluice'), /^! a Sluice that asks for its access key is running on [\d.:]+ already$/);
    let shown: unknown;
    const other = await plainServer(context, (request, response) => {
      shown = JSON.stringify(request.headers);
      response.end();
    });
    await examine(context, { words: ['--bind', `127.0.0.1:${other.port}`], environment });
    assert.doesNotMatch(String(shown), /planted/);
  });

  test('whoever reads no further is no failure, in any command', async (context) => {
    for (const command of ['doctor', 'models', '--help']) {
      const running = startSluice(context, ['--bind', '127.0.0.1:0', command], {
        folder: temporaryFolder(context),
      });
      running.process.stdout?.destroy();
      const { code, stderr } = await running.ended;
      assert.deepEqual([command, code, stderr], [command, 0, '']);
    }
  });

  test('a provider whose certificate is not trusted is not said to be away', async (context) => {
    const { origin } = await secureServer(context, listing(['m']));
    const yaml = `${NO_LOCAL}providers: { mock: { kind: openai, baseUrl: '${origin}/v1' } }\n`;
    const { code, finding } = await examine(context, { yaml });
    assert.equal(code, 1);
    const text = `✗ mock: the certificate of ${origin}/v1 is not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT)`;
    assert.ok(finding('✗ mock').startsWith(`${text} → start Sluice with NODE_EXTRA_CA_CERTS=file`), finding('✗ mock'));
    const { stderr } = await examine(context, { yaml, command: 'models' });
    assert.match(stderr, /mock: The provider's certificate is not trusted here \(DEPTH_ZERO_SELF_SIGNED_CERT\)\./);
    const trusting = {
      NODE_EXTRA_CA_CERTS: fileURLToPath(new URL('../fixtures/tls/certificate.pem', import.meta.url)),
    };
    assert.match((await examine(context, { yaml, environment: trusting })).finding('✓ mock'), /answers and lists/);
    const other = yaml.replace('localhost', '127.0.0.1');
    assert.match(
      (await examine(context, { yaml: other, environment: trusting })).finding('✗ mock'),
      /\(ERR_TLS_CERT_ALTNAME_INVALID\) → let providers\.mock\.baseUrl have a name that it is for$/,
    );
  });

  test('a provider that speaks TLS for HTTP/2 only is not said to be away', async (context) => {
    const server = createSecureServer({ ...secureIdentity, ALPNProtocols: ['h2'] }).listen(0, 'localhost');
    context.after(() => server.close());
    await once(server, 'listening');
    const address = `https://localhost:${(server.address() as AddressInfo).port}/v1`;
    const yaml = `${NO_LOCAL}providers: { mock: { kind: openai, baseUrl: '${address}' } }\n`;
    assert.equal(
      (await examine(context, { yaml })).finding('✗ mock'),
      `✗ mock: ${address} speaks TLS in a way that Sluice does not → let it speak TLS 1.2 or newer, and HTTP/1.1 in it`,
    );
    const { stderr } = await examine(context, { yaml, command: 'models' });
    assert.match(stderr, /mock: The provider has to speak TLS 1\.2 or newer, and HTTP\/1\.1 in it\./);
  });

  test('a provider that speaks no TLS where its address says so, or the reverse, is not said to be away', async (context) => {
    const plain = await plainServer(context, listing(['m']));
    const { origin: secure } = await secureServer(context, listing(['m']));
    const nginx = await plainServer(context, (_request, response) => {
      response.writeHead(400, { 'content-type': 'text/html' });
      response.end('<center>The plain HTTP request was sent to HTTPS port</center>');
    });
    const alerts = createServer((socket) => socket.end(Buffer.from([21, 3, 1, 0, 2, 2, 70]))).listen(0, '127.0.0.1');
    context.after(() => alerts.close());
    await once(alerts, 'listening');
    const alert = `http://127.0.0.1:${(alerts.address() as AddressInfo).port}/v1`;
    const untls = `${plain.url.replace('http:', 'https:')}/v1`;
    const hidden = `${secure.replace('https:', 'http:')}/v1`;
    const entries = {
      untls: ['openai', untls],
      vendor: ['google', untls],
      nginx: ['openai', `${nginx.url}/v1`],
      alert: ['openai', alert],
      hidden: ['openai', hidden],
    };
    const yaml = Object.entries(entries).map(
      ([id, [kind, url]]) => `${id}: {kind: ${kind}, baseUrl: '${url}', apiKey: k}`,
    );
    const { finding } = await examine(context, { yaml: `${NO_LOCAL}providers: { ${yaml.join(', ')} }\n` });
    for (const id of ['untls', 'vendor']) {
      assert.equal(
        finding(`✗ ${id}`),
        `✗ ${id}: what answers at ${untls} speaks no TLS → let providers.${id}.baseUrl begin with http://`,
      );
    }
    for (const id of ['nginx', 'alert'])
      assert.match(finding(`✗ ${id}`), /speaks TLS: the address has to begin with https:\/\/\. → check providers/);
    assert.match(
      finding('✗ hidden'),
      /closes the connection without an answer → if it speaks TLS, let providers\.hidden\.baseUrl begin with https:\/\/; else /,
    );
  });

  test('a data folder that is a file', async (context) => {
    const folder = temporaryFolder(context);
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    mkdirSync(path.join(folder, 'ok'));
    const { code, finding } = await examine(context, { words: ['--data-dir', file] });
    assert.equal(code, 1);
    assert.match(finding('✗ data folder'), /is a file → choose another folder with --data-dir/);
    const missing = path.join(folder, 'ok', 'a', 'b');
    assert.match(
      (await examine(context, { words: ['--data-dir', missing] })).finding('✓ data folder'),
      /does not exist yet and can be made/,
    );
  });

  test('a data folder that is a symbolic link to nothing', async (context) => {
    const link = path.join(temporaryFolder(context), 'link');
    symlinkSync(path.join(temporaryFolder(context), 'nowhere'), link);
    const { code, finding } = await examine(context, { words: ['--data-dir', link] });
    assert.equal(code, 1);
    assert.match(finding('✗ data folder'), /link is a symbolic link that leads nowhere → choose another folder/);
  });

  for (const [what, make, reason] of [
    ['is no database', (file: string) => writeFileSync(file, 'x'.repeat(5_000)), /is damaged, or it is no database/],
    ['is a folder', (file: string) => mkdirSync(file), /a folder where a file belongs/],
    ['was written by a newer Sluice', writeNewer, /by a newer version of Sluice/],
    ['has lost its last pages', (file: string) => writeCut(file, 5_000), /is damaged/],
    ['has lost a part of a page', (file: string) => writeCut(file, 100), /is damaged: its end is missing/],
  ] as const) {
    test(`a database that ${what} is wrong, and stays as it is`, async (context) => {
      const folder = temporaryFolder(context);
      const file = path.join(folder, 'sluice.db');
      make(file);
      const before = statSync(file, { bigint: true });
      const { code, finding } = await examine(context, { words: ['--data-dir', folder] });
      assert.equal(code, 1);
      assert.match(finding('✗ database'), reason);
      assert.match(finding('✗ database'), /→ put that file in order, or choose another folder with --data-dir/);
      assert.deepEqual(readdirSync(folder), ['sluice.db']);
      assert.equal(statSync(file, { bigint: true }).mtimeNs, before.mtimeNs);
    });
  }

  test('a database in use, and one that was left at once, are in order', async (context) => {
    const folder = temporaryFolder(context);
    const running = startSluice(context, ['--bind', '127.0.0.1:0', '--data-dir', folder], { folder });
    await running.said(/is ready/);
    const inUse = await examine(context, { words: ['--data-dir', folder] });
    assert.deepEqual([inUse.code, inUse.wrong], [0, []]);
    running.process.kill('SIGKILL');
    await running.ended;
    const left = await examine(context, { words: ['--data-dir', folder] });
    assert.deepEqual([left.code, left.wrong], [0, []]);
  });

  for (const [what, names] of [
    ['a full disk or a sudden end left half copied from its log', ['sluice.db', 'sluice.db-shm', 'sluice.db-wal']],
    ['was copied like that', ['sluice.db', 'sluice.db-wal']],
  ] as const) {
    test(`a database that ${what} is in order, and stays as it is`, async (context) => {
      const folder = temporaryFolder(context);
      writeHalfCopied(folder, names);
      const times = () => names.map((name) => statSync(path.join(folder, name), { bigint: true }).mtimeNs);
      const before = times();
      const { code, wrong } = await examine(context, { words: ['--data-dir', folder] });
      assert.deepEqual([code, wrong], [0, []]);
      assert.deepEqual(readdirSync(folder).sort(), names);
      assert.deepEqual(times(), before);
    });
  }

  test('a database on a server', { skip: noPostgres ?? false }, async (context) => {
    const server = await PostgresServer.start(context);
    const right = await server.newDatabase();
    const look = async (database: string) => {
      const { code, wrong, finding, stdout, stderr } = await examine(context, {
        environment: { SLUICE_DATABASE: database },
      });
      assert.doesNotMatch(stdout + stderr, /planted|pass\/word|pass%2Fword/);
      return code === 0 ? finding('✓ database') : wrong.join('\n');
    };
    const { host } = new URL(right);
    assert.equal(await look(right), `✓ database sluice_1 on ${host} can be used`);
    assert.deepEqual(await server.ask("select 1 from pg_namespace where nspname = 'sluice'", 'sluice_1'), []);
    assert.match(
      await look(server.address('sluice_1', 'owner', 'planted')),
      /✗ database sluice_1 on .*: The database server refuses the user or the password\. .*authentication failed/,
    );
    assert.match(await look(server.address('none')), /has no such database/);
    await server.ask("create role guest login password 'planted'");
    assert.match(await look(server.address('sluice_1', 'guest', 'planted')), /may not make tables in that database/);
    const latin = await server.newDatabase("encoding 'LATIN1' template template0 locale 'C'");
    assert.match(await look(latin), /is not in UTF-8/);
    await server.ask('create schema sluice; create table sluice.schema_versions as select 999 as version', 'sluice_1');
    assert.match(await look(right), /written by a newer version of Sluice/);
    await server.stop();
    assert.match(await look(right), /cannot be reached\. .*ECONNREFUSED/);
  });

  test('a text from an upstream cannot steer the terminal', async (context) => {
    const evil = await plainServer(context, (_request, response) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'evil \u001b[2J\r\nwords \u202e' } }));
    });
    const yaml = `${NO_LOCAL}providers: {mock: {kind: openai, baseUrl: "${evil.url}"}}\n`;
    const { stdout, finding } = await examine(context, { yaml });
    assert.match(finding('✗ mock'), /evil .*words/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not come through
    assert.doesNotMatch(stdout, /[\u001b\r\u202e]/);
  });
});

describe('sluice models', () => {
  const setUp = async (context: TestContext) => {
    const upstream = await plainServer(context, (_request, response) => {
      const data = [{ id: 'plain' }, { id: 'seeing', capabilities: ['vision', 'tool_use'], context_length: 8192 }];
      response.end(JSON.stringify({ object: 'list', data }));
    });
    const refusing = await plainServer(context, listing(['m'], 'right'));
    const dead = `http://127.0.0.1:${await unusedPort()}`;
    return `${NO_LOCAL}embedded: {enabled: false}
providers:
  mock: {kind: openai, baseUrl: "${upstream.url}/v1", apiKey: planted-key}
  refusing: {kind: openai, baseUrl: "${refusing.url}/v1", apiKey: planted-wrong-key}
  dead: {kind: openai, baseUrl: "${dead}"}
`;
  };

  test('lists what there is as a table, and says what could not be asked', async (context) => {
    const { code, stdout, stderr } = await examine(context, { yaml: await setUp(context), command: 'models' });
    assert.equal(code, 0);
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      'MODEL        KIND  ABILITIES      CONTEXT',
      'mock/plain   chat  -              -',
      'mock/seeing  chat  vision, tools  8192',
    ]);
    assert.match(stderr, /^sluice: refusing: .*\nsluice: dead: .*\n$/);
    assert.doesNotMatch(stdout + stderr, /planted/);
  });

  test('--json', async (context) => {
    const { code, stdout, stderr } = await examine(context, {
      yaml: await setUp(context),
      command: 'models',
      words: ['--json'],
    });
    assert.deepEqual([code, stderr], [0, '']);
    const { models, failed } = JSON.parse(stdout) as { models: object[]; failed: { provider: string; code: string }[] };
    assert.deepEqual(models[0], { provider: 'mock', id: 'plain' });
    assert.equal(models.length, 2);
    assert.deepEqual(
      failed.map(({ provider, code: word }) => [provider, word]),
      [
        ['refusing', 'missing_credentials'],
        ['dead', 'upstream_unreachable'],
      ],
    );
    assert.doesNotMatch(stdout, /planted/);
  });

  test('--json, without what only clients of a vendor understand', async (context) => {
    const claude = await plainServer(context, (_request, response) => {
      const data = [{ type: 'model', id: 'claude-x', display_name: 'Claude X', created_at: '2026-01-01T00:00:00Z' }];
      response.end(JSON.stringify({ data, has_more: false, first_id: 'claude-x', last_id: 'claude-x' }));
    });
    const provider = `providers: {claude: {kind: anthropic, baseUrl: "${claude.url}/v1", apiKey: k}}`;
    const yaml = `${NO_LOCAL}embedded: {enabled: false}\n${provider}\n`;
    const { stdout } = await examine(context, { yaml, command: 'models', words: ['--json'] });
    const { models } = JSON.parse(stdout) as { models: object[] };
    const abilities = { vision: true, tools: true, reasoning: true };
    assert.deepEqual(models, [
      { provider: 'claude', id: 'claude-x', label: 'Claude X', ...abilities, contextLength: 200_000 },
    ]);
  });

  test('the voice that comes with Sluice is one of them', async (context) => {
    const { code, stdout } = await examine(context, { yaml: NO_LOCAL, command: 'models' });
    assert.equal(code, 0);
    assert.match(stdout, /^flite\/flite +speech +audio +-$/m);
  });

  test('fails when nothing could be asked', async (context) => {
    const dead = `http://127.0.0.1:${await unusedPort()}`;
    const yaml = `${NO_LOCAL}embedded: {enabled: false}\nproviders: {dead: {kind: openai, baseUrl: "${dead}"}}\n`;
    const { code, stdout } = await examine(context, { yaml, command: 'models' });
    assert.equal(code, 1);
    assert.equal(stdout, 'There are no models. "sluice doctor" says why, and what to do.\n');
  });
});
