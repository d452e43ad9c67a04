import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { plainServer } from '../support/plain-server.ts';
import { SLUICE, startSluice } from '../support/run-sluice.ts';
import { childrenOf, isAlive } from './workers-world.ts';

const event = (content: string) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const END = `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;

/** Sluice before an upstream whose one stream the test drives; the first piece has arrived at the client. */
async function streaming(context: TestContext, limits = '{}') {
  const folder = temporaryFolder(context);
  const streams: ServerResponse[] = [];
  const upstream = await plainServer(context, (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event('first'));
    streams.push(response);
  });
  const provider = `{kind: openai, baseUrl: "${upstream.url}/v1", models: [m]}`;
  writeFileSync(
    path.join(folder, 'sluice.yaml'),
    `providers: {mock: ${provider}}\nlimits: ${limits}\ndetectLocal: false\n`,
  );
  const running = startSluice(context, ['--bind', '127.0.0.1:0'], { folder });
  const [, address = ''] = await running.said(/Page +http:\/\/(\S+)\//);
  const answer = await fetch(`http://${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'mock/m', stream: true, messages: [{ role: 'user', content: 'x' }] }),
  });
  const reader = (answer.body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const readUntil = async (wanted: string | undefined) => {
    while (wanted === undefined || !text.includes(wanted)) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += value;
    }
    return text;
  };
  await readUntil('first');
  return { running, address, readUntil, stream: streams[0] };
}

/** Why there is none to be had here; false where there are some. */
function noTerminals(): string | false {
  if (process.platform !== 'linux') return 'script takes other words elsewhere';
  return spawnSync('script', ['--version']).status !== 0 && 'there is no script (util-linux)';
}

/** A script that starts Sluice over a channel, as the launcher does; and the launcher, where there is a Node that is too old. */
const FORK = `require('node:child_process').fork(process.argv[1], process.argv.slice(2))`;
const isOld = /^v2[0-3]\./.test(spawnSync('node', ['--version'], { encoding: 'utf8' }).stdout ?? '');
const onLinux = (command: string) => (process.platform === 'linux' ? command : undefined);
const LAUNCHERS = [
  ['whoever started it', onLinux(process.execPath), ['-e', FORK, SLUICE, '--bind', '127.0.0.1:0']],
  ['its launcher on an old Node', isOld ? onLinux('node') : undefined, [SLUICE, '--bind', '127.0.0.1:0']],
] as const;

/** All that was said so far, each time there is more. */
async function* said(output: Readable): AsyncIterable<string> {
  let all = '';
  for await (const text of output.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    all += text;
    yield all;
  }
}

describe('signals', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal}: nothing new is accepted, the running answer is finished, code 0`, async (context) => {
      const { running, address, readUntil, stream } = await streaming(context);
      running.process.kill(signal);
      await running.said(/stopping; a second signal stops at once/);
      await assert.rejects(fetch(`http://${address}/v1/models`));
      stream?.write(event('second'));
      stream?.end(END);
      const text = await readUntil(undefined);
      assert.match(text, /"second"/);
      assert.match(text, /data: \[DONE\]\n\n$/);
      assert.equal((await running.ended).code, 0);
    });
  }

  test('the same signal twice at the same moment, as Ctrl-C through the launcher, is one', async (context) => {
    const { running, readUntil, stream } = await streaming(context);
    running.process.kill('SIGINT');
    running.process.kill('SIGINT');
    await running.said(/stopping/);
    await sleep(100);
    stream?.end(END);
    assert.match(await readUntil(undefined), /\[DONE\]/);
    assert.equal((await running.ended).code, 0);
  });

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    test(`a second ${signal} ends at once with ${code}`, async (context) => {
      const { running } = await streaming(context);
      running.process.kill(signal);
      await running.said(/stopping/);
      await sleep(400);
      running.process.kill(signal);
      assert.equal((await running.ended).code, code);
    });
  }

  test('SIGHUP without a terminal, as with nohup, is logged and ends nothing', async (context) => {
    const { running, address, readUntil, stream } = await streaming(context);
    running.process.kill('SIGHUP');
    running.process.kill('SIGHUP');
    await running.said(/the terminal has ended; going on without it/);
    assert.equal((await fetch(`http://${address}/health`)).status, 200);
    stream?.end(END);
    assert.match(await readUntil(undefined), /\[DONE\]/);
    running.process.kill('SIGTERM');
    const { code, stderr } = await running.ended;
    assert.equal(code, 0);
    assert.equal(stderr.match(/the terminal has ended/g)?.length, 1, 'twice at the same moment is once');
  });

  test('SIGHUP while it starts waits until it has', { skip: process.platform === 'win32' }, async (context) => {
    const folder = temporaryFolder(context);
    const pipe = path.join(folder, 'pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    const running = startSluice(context, ['--bind', '127.0.0.1:0', '--config', pipe], { folder });
    // Opens as soon as somebody reads: the start waits for what is written.
    const configuration = await open(pipe, 'w');
    running.process.kill('SIGHUP');
    await configuration.write('detectLocal: false\n');
    await configuration.close();
    await Promise.all([running.said(/Page +http/), running.said(/the terminal has ended; going on without it/)]);
    running.process.kill('SIGTERM');
    assert.equal((await running.ended).code, 0);
  });

  for (const [what, command] of [
    ['it', process.execPath],
    ['its launcher on an old Node', isOld ? 'node' : undefined],
  ] as const) {
    const skip = command === undefined || noTerminals();
    test(`${what} ends in good order with its terminal`, { skip }, async (context) => {
      // Hooks run in this order, and the folder must not go before it is read.
      context.after(() => {
        if (existsSync(ended)) return;
        terminal.kill('SIGKILL');
        for (const pid of childrenOf(Number(readFileSync(path.join(folder, 'shell'), 'utf8'))))
          process.kill(pid, 'SIGKILL');
      });
      const folder = temporaryFolder(context);
      const ended = path.join(folder, 'ended');
      // The first shell ends with the terminal, of which the system then tells all that ran in it; the second one stays to note the code.
      const noting = `trap : HUP; echo $$ > shell; '${command}' '${SLUICE}' --bind 127.0.0.1:0; echo $? > part; mv part ended`;
      const words = `sh -c "${noting.replaceAll('$', '\\$')}"; true`;
      const environment = { ...process.env, HOME: folder, SLUICE_DATA_DIR: folder, SHELL: '/bin/sh' };
      const terminal = spawn('script', ['-qefc', words, '/dev/null'], {
        cwd: folder,
        env: environment,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      for await (const text of said(terminal.stdout)) if (/Page +http/.test(text)) break;
      terminal.kill('SIGKILL');
      await eventually('it has ended', () => existsSync(ended));
      assert.equal(readFileSync(ended, 'utf8').trim(), '0');
    });
  }

  for (const [what, command, words] of LAUNCHERS) {
    test(`it ends with ${what} that is killed`, { skip: command === undefined }, async (context) => {
      const folder = temporaryFolder(context);
      const env = { ...process.env, HOME: folder, SLUICE_DATA_DIR: folder };
      const launcher = spawn(String(command), words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
      for await (const text of said(launcher.stdout)) if (/Page +http/.test(text)) break;
      const [pid = 0] = childrenOf(launcher.pid ?? 0);
      assert.ok(isAlive(pid));
      context.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'));
      launcher.kill('SIGKILL');
      await eventually('it has ended', () => !isAlive(pid));
    });
  }

  test('an endless answer is cut after drainMs with an error', async (context) => {
    const { running, readUntil } = await streaming(context, '{drainMs: 300}');
    running.process.kill('SIGTERM');
    const text = await readUntil(undefined).catch(() => 'cut without a word');
    assert.match(text, /"error"/);
    assert.equal((await running.ended).code, 0);
  });
});

describe('what nobody caught', () => {
  /** A process that stops in order and in which `code` runs, for a second at most. */
  function run(code: string, drain = "async () => console.log('drained')", drainMs = 1_000) {
    const url = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
    const script = `
      const { stopInOrder } = await import(${url('../../src/cli/stop.ts')});
      const { createLogger } = await import(${url('../../src/cli/logger.ts')});
      stopInOrder({ drain: ${drain}, drainMs: () => ${drainMs}, log: createLogger('info') });
      setTimeout(() => {}, 1000);
      ${code}`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    }
    return new Promise<{ exitCode: number | null; stdout: string; stderr: string }>((resolve) => {
      child.on('close', (exitCode) => resolve({ exitCode, ...output }));
    });
  }

  test('an exception: logged, drained, code 1', async () => {
    const { exitCode, stdout, stderr } = await run("setTimeout(() => { throw new Error('broken on purpose'); }, 10);");
    assert.equal(exitCode, 1);
    assert.equal(stdout, 'drained\n');
    assert.match(stderr, /"level":"error".*broken on purpose.*an exception was not caught; stopping/);
  });

  test('a rejection: logged, and the process lives on', async () => {
    const later = "setTimeout(() => { console.log('alive'); process.exit(7); }, 100);";
    const { exitCode, stdout, stderr } = await run(`Promise.reject(new Error('lost on purpose')); ${later}`);
    assert.equal(exitCode, 7);
    assert.equal(stdout, 'alive\n');
    assert.match(stderr, /"level":"error".*lost on purpose.*a rejection was not handled; going on/);
  });

  test('a drain that never ends is cut, with code 1', async () => {
    // The grace of two seconds, less most of it.
    const { exitCode, stderr } = await run(
      "process.kill(process.pid, 'SIGTERM');",
      '() => new Promise(() => {})',
      -1_900,
    );
    assert.equal(exitCode, 1);
    assert.match(stderr, /the drain did not end in time/);
  });

  test('a drain that fails is logged, with code 1', async () => {
    const { exitCode, stderr } = await run(
      "process.kill(process.pid, 'SIGTERM');",
      "async () => { throw new Error('stuck') }",
    );
    assert.equal(exitCode, 1);
    assert.match(stderr, /stuck.*the drain failed/);
  });
});
