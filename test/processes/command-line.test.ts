import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import flags from '../../bin/node-flags.json' with { type: 'json' };
import { OWN_VARIABLES } from '../../src/config/flags.ts';
import { temporaryFolder } from '../support/config-folder.ts';
import { listing, plainServer } from '../support/plain-server.ts';
import { type Ended, runSluice, startSluice } from '../support/run-sluice.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** A device on which there is never any room. */
const FULL = '/dev/full';
const READY = /Page +http:\/\/(\S+)\//;

/** One clear line, nothing else. */
function assertOneLine(ended: Ended, code: number, line: string | RegExp): void {
  assert.equal(ended.stdout, '');
  if (typeof line === 'string') assert.equal(ended.stderr, `sluice: ${line}\n`);
  else assert.match(ended.stderr, line);
  assert.equal(ended.stderr.trimEnd().split('\n').length, 1, ended.stderr);
  assert.equal(ended.code, code);
}

/** Starts on a free port and waits until it serves. */
async function ready(context: TestContext, folder: string, words: readonly string[] = [], environment = {}) {
  const running = startSluice(context, ['--bind', '127.0.0.1:0', ...words], { folder, environment });
  const [, address = ''] = await running.said(READY);
  return { ...running, url: `http://${address}` };
}

describe('usage', () => {
  const run = async (context: TestContext, words: string[], environment = {}) => {
    return await runSluice(context, words, { folder: temporaryFolder(context), environment });
  };

  test('--help names every command and option', async (context) => {
    const { code, stdout, stderr } = await run(context, ['--help']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal((await run(context, ['-h'])).stdout, stdout);
    for (const word of [
      'serve',
      'models',
      'doctor',
      'move',
      'pull',
      'top',
      ...OWN_VARIABLES.map((name) => name.replace('SLUICE_', '--').replaceAll('_', '-').toLowerCase()),
      ...OWN_VARIABLES,
      '--no-key',
      '--version',
    ]) {
      assert.ok(stdout.includes(word), word);
    }
  });

  test('what cannot be written is said, and no success', {
    skip: !existsSync(FULL) && `no ${FULL}`,
  }, async (context) => {
    const folder = temporaryFolder(context);
    const stdout = openSync(FULL, 'w');
    context.after(() => closeSync(stdout));
    writeFileSync(path.join(folder, 'sluice.yaml'), 'detectLocal: false\n');
    for (const word of ['models', 'doctor', '--help']) {
      const { code, stderr } = await runSluice(context, [word], { folder, stdout });
      assert.match(stderr, /^sluice: not all of the output could be written: ENOSPC: /m);
      assert.equal(code, 1);
    }
  });

  test('--version', async (context) => {
    for (const option of ['--version', '-v'])
      assert.deepEqual(await run(context, [option]), { code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
  });

  test('unknown option', async (context) => {
    for (const option of ['--frobnicate', '-x', '-ports'])
      assertOneLine(await run(context, [option]), 2, `unknown option '${option}' ("sluice --help" lists all)`);
  });

  test('options that say elsewhere where to listen', async (context) => {
    for (const [option, value] of [['-p', '8080'], ['--port', '8080'], ['--port=8080'], ['--host', '0.0.0.0']] as const)
      assertOneLine(
        await run(context, value === undefined ? [option] : [option, value]),
        2,
        `unknown option '${option}' ("--bind 8080" or "--bind host:8080" says where to listen)`,
      );
  });

  test('an unknown option or a missing word of a command leads to the help of that command', async (context) => {
    for (const [words, told] of [
      [['top', '--bogus'], `unknown option '--bogus' ("sluice top --help" lists all)`],
      [['--bind', '0', 'doctor', '-x'], `unknown option '-x' ("sluice doctor --help" lists all)`],
      [['pull'], `missing required argument 'model' ("sluice pull --help" says which)`],
    ] as const) {
      assertOneLine(await run(context, [...words]), 2, told);
    }
  });

  test('unknown option with a suggestion', async (context) => {
    assertOneLine(await run(context, ['models', '--jsn']), 2, "unknown option '--jsn' (Did you mean --json?)");
  });

  test('unknown command', async (context) => {
    assertOneLine(await run(context, ['docter']), 2, "unknown command 'docter' (did you mean doctor?)");
    assertOneLine(
      await run(context, ['bogus']),
      2,
      "unknown command 'bogus' (there are serve, models, doctor, pull, move and top)",
    );
  });

  test('a command behind another one', async (context) => {
    const words = "'models' is a command of its own, and stands alone";
    assertOneLine(await run(context, ['serve', 'models']), 2, words);
    assertOneLine(await run(context, ['help', 'help']), 2, "'help' is a command of its own, and stands alone");
  });

  test('help for an unknown command', async (context) => {
    assertOneLine(await run(context, ['help', 'modles']), 2, "unknown command 'modles' (did you mean models?)");
  });

  test('help for a command has all its options', async (context) => {
    for (const words of [
      ['serve', '--help'],
      ['top', '--help'],
      ['help', 'top'],
    ]) {
      const { code, stdout } = await run(context, words);
      assert.equal(code, 0);
      assert.match(stdout, /--bind <host:port>[\s\S]*--workers/);
      if (words.includes('top')) assert.match(stdout, /--interval/);
    }
  });

  test('option without its value', async (context) => {
    assertOneLine(await run(context, ['--bind']), 2, "option '--bind <host:port>' argument missing");
  });

  test('a file that is not there', async (context) => {
    assertOneLine(
      await run(context, ['--config', 'none.yaml']),
      2,
      '--config: cannot read none.yaml: there is no such file',
    );
  });

  test('no file where one has to be named', async (context) => {
    assertOneLine(await run(context, ['--config', '']), 2, '--config: got ""; allowed: a path');
  });

  test('a folder instead of a file, named by the environment', async (context) => {
    const folder = temporaryFolder(context);
    mkdirSync(path.join(folder, 'd'));
    const ended = await runSluice(context, [], { folder, environment: { SLUICE_CONFIG: 'd' } });
    assertOneLine(ended, 2, 'SLUICE_CONFIG: cannot read d: it is a folder');
  });

  test('broken YAML', async (context) => {
    const folder = temporaryFolder(context);
    writeFileSync(path.join(folder, 'sluice.yaml'), 'bind: "x\n');
    assertOneLine(
      await runSluice(context, [], { folder }),
      2,
      'sluice.yaml:2:1: not valid YAML: Missing closing "quote',
    );
  });

  test('several wrong values are several lines', async (context) => {
    const folder = temporaryFolder(context);
    writeFileSync(path.join(folder, 'sluice.yaml'), 'logLevel: loud\nlimits: {idleMs: -1}\n');
    const { code, stderr } = await runSluice(context, ['--config', 'sluice.yaml'], { folder });
    assert.equal(code, 2);
    assert.deepEqual(stderr.trimEnd().split('\n'), [
      'sluice: sluice.yaml:1: logLevel: got "loud"; allowed: debug, info, warn, error, silent',
      'sluice: sluice.yaml:2: limits.idleMs: got -1; allowed: a whole number of milliseconds from 1 to 2147483647',
    ]);
  });
});

describe('starting', () => {
  test('tells where the page and the API are, what was found and how to add more', async (context) => {
    const folder = temporaryFolder(context);
    const { process: child, ended, url } = await ready(context, folder, [], { GROQ_API_KEY: 'planted-groq-key' });
    assert.equal((await fetch(`${url}/v1/models`)).status, 200);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`Sluice ${version} is ready`));
    assert.ok(stdout.includes(`${url}/v1   (base URL for OpenAI clients, with any API key)`), stdout);
    assert.ok(stdout.includes(`${url}/docs`), stdout);
    assert.match(stdout, /groq +Groq: by GROQ_API_KEY/);
    assert.match(stdout, /embedded .*(small demo model, whose answers are simple and often wrong|no model yet)/);
    assert.match(stdout, /export OPENAI_API_KEY=…/);
    assert.doesNotMatch(stdout + stderr, /planted/);
  });

  test('Node gets its flags in the same process, behind which nothing else stands', {
    skip: process.platform !== 'linux' && 'only Linux lists processes as files',
  }, async (context) => {
    const { process: child } = await ready(context, temporaryFolder(context));
    const words = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').split('\0');
    for (const flag of flags) assert.ok(words.includes(flag), `${flag} is not among: ${words.join(' ')}`);
    assert.equal(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'), '');
  });

  test('of the languages that libraries speak only English is loaded', async (context) => {
    const hook = `import { registerHooks } from 'node:module';
      const load = (url, context, next) => { console.error('loads ' + url); return next(url, context); };
      registerHooks({ load });`;
    const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
    const running = await ready(context, temporaryFolder(context), [], environment);
    running.process.kill('SIGTERM');
    const loaded = (await running.ended).stderr.split('\n').filter((line) => line.startsWith('loads '));
    assert.ok(loaded.some((line) => /\/(?:src\/app\.ts|dist\/app-[\w-]+\.js)$/.test(line)));
    const languages = loaded.filter((line) => /\/(?:locales?|lang(?:uage)?s?|i18n)\//.test(line));
    assert.deepEqual(
      languages.map((line) => path.basename(line)),
      ['en.js'],
    );
  });

  test('a variable of observing that is not understood is named, and keeps nothing from starting', async (context) => {
    const environment = {
      SLUICE_REQUEST_LOG: 'fll',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_BSP_SCHEDULE_DELAY: '1.5s',
    };
    const { process: child, ended } = await ready(context, temporaryFolder(context), [], environment);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 0);
    const wrong = 'SLUICE_REQUEST_LOG is not understood and has no effect; allowed: none, meta, full';
    assert.ok(stdout.includes(`Note       ${wrong}\n`), stdout);
    assert.match(stdout, /Note {7}OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not spoken/);
    assert.match(stdout, /Note {7}OTEL_BSP_SCHEDULE_DELAY is not understood/);
    assert.ok(stderr.includes(`"level":"warn"`) && stderr.includes(`"msg":"${wrong}"`), stderr);
  });

  test('a data folder that one may not look into keeps nothing from starting', async (context) => {
    const folder = temporaryFolder(context);
    // Nothing is forbidden to root, but this is.
    symlinkSync('circle', path.join(folder, 'circle'));
    const words = ['--data-dir', path.join(folder, 'circle', 'data')];
    const { process: child, ended, url } = await ready(context, folder, words);
    assert.equal((await fetch(`${url}/v1/models`)).status, 200);
    const asked = { model: 'embedded', messages: [{ role: 'user', content: 'Hi' }] };
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    const { error } = (await answer.json()) as { error: { message: string } };
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    assert.equal(code, 0);
    assert.match(stderr, /storage is out of order/);
    assert.match(
      error.message,
      /cannot be unpacked into the data directory, where it takes 323 MB\. The data folder holds a symbolic link\.$/,
    );
    assert.match(
      stderr,
      new RegExp(`"id":"${answer.headers.get('x-request-id')}".*"message":"ELOOP: [^\n]*a provider failed`),
    );
    const models = await runSluice(context, ['models', ...words], { folder });
    assert.deepEqual([models.code, models.stderr], [0, '']);
  });

  test('compiled code is kept in a folder of the user alone, or nowhere', async (context) => {
    const folder = temporaryFolder(context);
    for (const own of [{ XDG_CACHE_HOME: '' }, { XDG_CACHE_HOME: 'here' }, { XDG_CACHE_HOME: '', HOME: '' }]) {
      const environment = { NODE_COMPILE_CACHE: '', ...own };
      assert.equal((await runSluice(context, ['--version'], { folder, environment })).code, 0);
      assert.deepEqual(readdirSync(folder), own.HOME === '' ? [] : ['.cache']);
      rmSync(path.join(folder, '.cache'), { recursive: true, force: true });
    }
  });

  test('without a home folder it asks for one for the data', async (context) => {
    const environment = { HOME: '', SLUICE_DATA_DIR: '' };
    const ended = await runSluice(context, [], { folder: temporaryFolder(context), environment });
    assertOneLine(ended, 2, /^sluice: there is no home folder: set HOME, or say with --data-dir, .*\n$/);
  });

  test('where Node may start nothing, it goes on without its flags', async (context) => {
    const NODE_OPTIONS =
      '--permission --allow-fs-read=* --allow-fs-write=* --allow-addons --allow-worker --no-warnings';
    const options = { folder: temporaryFolder(context), environment: { NODE_OPTIONS } };
    const ended = await runSluice(context, ['--version'], options);
    assert.deepEqual(ended, { code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
  });

  test('where Node cannot be started anew in its process, as on Windows, it goes on without its flags', async (context) => {
    // What Windows has: the function is there, and throws.
    const windows = `Object.defineProperty(process, 'platform', { value: 'win32' });
      process.execve = () => { throw new Error('The feature process.execve is unavailable on the current platform'); };`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(windows)}`;
    const options = { folder: temporaryFolder(context), environment: { NODE_OPTIONS } };
    const ended = await runSluice(context, ['--version'], options);
    assert.deepEqual(ended, { code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
  });

  test('a port in use', async (context) => {
    const { port } = await plainServer(context, (_request, response) => response.end());
    const ended = await runSluice(context, ['--bind', `127.0.0.1:${port}`], { folder: temporaryFolder(context) });
    const hint = `end the program that uses it, or choose another port, for example --bind 127.0.0.1:${port + 1}`;
    assertOneLine(ended, 1, `port ${port} on 127.0.0.1 is in use: ${hint}`);
  });

  test('the stack of a failure is for who wants to know all, be it by a flag or by a variable', async (context) => {
    const { port } = await plainServer(context, (_request, response) => response.end());
    for (const [words, environment, isShown] of [
      [['--log-level', 'debug'], {}, true],
      [[], { SLUICE_LOG_LEVEL: 'debug' }, true],
      [['--log-level', 'info'], { SLUICE_LOG_LEVEL: 'debug' }, false],
    ] as const) {
      const options = { folder: temporaryFolder(context), environment };
      const { code, stderr } = await runSluice(context, ['--bind', `127.0.0.1:${port}`, ...words], options);
      assert.equal(code, 1);
      assert.match(stderr, /^sluice: port \d+ on 127\.0\.0\.1 is in use: /m);
      assert.equal(/^ {4}at /m.test(stderr), isShown, stderr);
    }
  });

  test('an address that this machine does not have', async (context) => {
    // 192.0.2.0/24 and 203.0.113.0/24 are for documentation (RFC 5737).
    const ended = await runSluice(context, ['--bind', '203.0.113.77:0', '--no-key'], {
      folder: temporaryFolder(context),
    });
    assertOneLine(ended, 1, /cannot listen on 203\.0\.113\.77:0: this machine has no address 203\.0\.113\.77;/);
  });

  test('beyond loopback a key is made up, printed once and asked for', async (context) => {
    const folder = temporaryFolder(context);
    const running = startSluice(context, ['--bind', ':0'], { folder });
    const [, address = '', key = ''] = await running.said(/Page +http:\/\/(\S+)\/\?key=(\S+)/);
    assert.match(key, /^[\w-]{22,}$/);
    const url = `http://127.0.0.1:${address.split(':').at(-1)}/v1/models`;
    assert.equal((await fetch(url)).status, 401);
    assert.equal((await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status, 200);
    running.process.kill('SIGTERM');
    const { stdout, stderr } = await running.ended;
    assert.match(stdout, /Access key .*made up for this start/);
    assert.ok(!stderr.includes(key));
  });

  test('--no-key serves everybody on purpose, and says so', async (context) => {
    const running = startSluice(context, ['--bind', ':0', '--no-key'], { folder: temporaryFolder(context) });
    const [, address = ''] = await running.said(READY);
    await running.said(/Open +everybody who reaches 0\.0\.0\.0:\d+ can use it: no key is asked for/);
    assert.equal((await fetch(`http://127.0.0.1:${address.split(':').at(-1)}/v1/models`)).status, 200);
  });

  test('a key of the configuration is asked for and never shown', async (context) => {
    const {
      process: child,
      ended,
      url,
    } = await ready(context, temporaryFolder(context), [], { SLUICE_KEY: 'planted-server-key' });
    assert.equal((await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer x' } })).status, 401);
    assert.equal(
      (await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer planted-server-key' } })).status,
      200,
    );
    child.kill('SIGTERM');
    const { stdout, stderr } = await ended;
    assert.match(stdout, /with the access key as API key/);
    assert.doesNotMatch(stdout + stderr, /planted/);
  });

  test('providers of the file are followed without a restart', async (context) => {
    const folder = temporaryFolder(context);
    const upstream = await plainServer(context, listing(['mock-fast']));
    const file = path.join(folder, 'sluice.yaml');
    const provider = (id: string) => `providers: {${id}: {kind: openai, baseUrl: "${upstream.url}/v1"}}\n`;
    writeFileSync(file, provider('first'));
    const { said, url, process: child } = await ready(context, folder);
    const providers = async () => JSON.stringify(await (await fetch(`${url}/backend-api/v2/providers`)).json());
    assert.match(await providers(), /"first"/);
    writeFileSync(file, provider('second'));
    await said(/the configuration has changed: providers/);
    assert.match(await providers(), /"second"/);
    assert.doesNotMatch(await providers(), /"first"/);
    writeFileSync(file, 'providers: 3\n');
    await said(/the changed configuration is wrong, the last one stays in force: sluice\.yaml:1: providers: got 3/);
    assert.match(await providers(), /"second"/);
    child.kill('SIGTERM');
  });

  test('limits of the server itself are followed too, and the one that cannot be is named', async (context) => {
    const folder = temporaryFolder(context);
    const file = path.join(folder, 'sluice.yaml');
    writeFileSync(file, 'limits: {urlBytes: 200, keepAliveMs: 60000, clientHeaderMs: 600000}\n');
    const { said, url, process: child } = await ready(context, folder);
    const long = (length: number) => `${url}/health?${'x'.repeat(length)}`;
    const kept = async () => (await fetch(`${url}/health`)).headers.get('keep-alive');
    assert.deepEqual([(await fetch(long(1_000))).status, await kept()], [414, 'timeout=60']);
    writeFileSync(file, 'limits: {urlBytes: 1500, keepAliveMs: 9000, clientHeaderMs: 300, headerBytes: 2000}\n');
    await said(/a change of limits\.headerBytes needs a restart of Sluice/);
    await said(/the configuration has changed: limits/);
    assert.deepEqual([(await fetch(long(1_000))).status, await kept()], [200, 'timeout=9']);
    assert.equal((await fetch(long(2_000))).status, 414);
    const large = await fetch(`${url}/health`, { headers: { 'x-large': 'x'.repeat(3_000) } });
    assert.equal(large.status, 200, 'the former limit of headers is still in force');
    const slow = connect(Number(new URL(url).port), '127.0.0.1');
    slow.write('GET /health HTTP/1.1\r\n');
    let answer = '';
    for await (const bytes of slow) answer += String(bytes);
    assert.match(answer, /^HTTP\/1\.1 408 /);
    child.kill('SIGTERM');
  });

  test('a file that comes later is taken, and until then none is missed', async (context) => {
    const folder = temporaryFolder(context);
    const { said, ended, process: child } = await ready(context, folder);
    writeFileSync(path.join(folder, 'other.yaml'), '');
    await sleep(500);
    writeFileSync(path.join(folder, 'sluice.yaml'), 'aliases: {fast: a/b}\n');
    await said(/the configuration has changed: aliases/);
    child.kill('SIGTERM');
    assert.doesNotMatch((await ended).stderr, /gone|needs a restart/);
  });
});
