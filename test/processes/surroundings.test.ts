import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { unusedPort } from '../support/plain-server.ts';
import { type RunOptions, SLUICE, startSluice } from '../support/run-sluice.ts';
import { childrenOf, isAlive } from './workers-world.ts';

const isLinux = process.platform === 'linux';
const withoutTerminal =
  !isLinux || (spawnSync('script', ['--version']).status !== 0 && 'script (util-linux) is not installed');

describe('a data folder that is none', () => {
  test('below /proc it cannot be made: nothing is stored, and Sluice ends when it is told to', {
    skip: !isLinux,
    timeout: 60_000,
  }, async (context) => {
    const folder = temporaryFolder(context);
    const words = ['--bind', '127.0.0.1:0', '--data-dir', '/proc/sluice/data'];
    const running = startSluice(context, words, { folder });
    const [, address] = await running.said(/Page +http:\/\/(\S+)\//);
    const post = async (path: string, body: string | FormData) => {
      const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
      const answer = await fetch(`http://${address}${path}`, { method: 'POST', headers, body });
      return `${answer.status} ${await answer.text()}`;
    };
    const question = { model: 'embedded', messages: [{ role: 'user', content: 'Hi' }] };
    const cookies = new FormData();
    cookies.set('file', new File(['[{"domain":"a.example","name":"n","value":"v"}]'], 'cookies.json'));
    const [chat, answer, upload] = await Promise.all([
      post('/backend-api/v2/chat/one', '{"id":"one"}'),
      post('/v1/chat/completions', JSON.stringify(question)),
      post('/backend-api/v2/upload_cookies', cookies),
    ]);
    assert.match(chat, /^507 .*The storage is out of order. The data folder is gone, or cannot be made./);
    assert.match(
      answer,
      /^507 .*The bundled model cannot be unpacked into the data directory, .*The data folder is gone, or cannot be made\./,
    );
    assert.match(upload, /^507 .*The cookies could not be stored/);
    running.process.kill('SIGTERM');
    const { code, stdout, stderr } = await running.ended;
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout + stderr, /\n +at /);
  });
});

/** A pipe that takes nothing any more: somebody holds it, and reads nothing. */
function fullPipe(context: TestContext, folder: string): number {
  const name = path.join(folder, 'pipe');
  assert.equal(spawnSync('mkfifo', [name]).status, 0);
  const pipe = openSync(name, constants.O_RDWR | constants.O_NONBLOCK);
  context.after(() => closeSync(pipe));
  assert.throws(
    () => {
      for (;;) writeSync(pipe, Buffer.alloc(4_096));
    },
    { code: 'EAGAIN' },
  );
  return pipe;
}

/** A socket that takes nothing any more: its other end reads nothing. Pipes of a child of Node's are sockets like this one, too. */
async function fullSocket(context: TestContext, folder: string): Promise<Socket> {
  const server = createServer({ pauseOnConnect: true });
  const accepted = once(server, 'connection');
  await once(server.listen(path.join(folder, 'socket')), 'listening');
  const socket = connect(path.join(folder, 'socket'));
  await once(socket, 'connect');
  const [other] = (await accepted) as [Socket];
  context.after(() => {
    for (const each of [socket, other]) each.destroy();
    server.close();
  });
  // More than the system takes; the rest waits here for room, as long as the test runs.
  socket.write(Buffer.alloc(16 * 1024 * 1024));
  return socket;
}

describe('outputs that nobody reads any more do not keep Sluice from answering and ending', () => {
  const outputs = {
    'a log into a pipe': async (context, folder) => ({ stderr: fullPipe(context, folder) }),
    'a log into a socket': async (context, folder) => ({ stderr: await fullSocket(context, folder) }),
    'both in one socket': async (context, folder) => {
      const socket = await fullSocket(context, folder);
      return { stdout: socket, stderr: socket };
    },
  } satisfies Record<string, (context: TestContext, folder: string) => Promise<Partial<RunOptions>>>;
  for (const [name, open] of Object.entries(outputs)) {
    for (const workers of ['1', '2']) {
      test(`${name}, with --workers ${workers}`, { skip: !isLinux, timeout: 120_000 }, async (context) => {
        const folder = temporaryFolder(context);
        writeFileSync(path.join(folder, 'sluice.yaml'), 'detectLocal: false\nembedded: { enabled: false }\n');
        const origin = `http://127.0.0.1:${await unusedPort()}`;
        const words = ['--bind', origin.slice('http://'.length), '--workers', workers, '--log-level', 'debug'];
        const running = startSluice(context, words, { folder, ...(await open(context, folder)) });
        const ask = async (target: string, init: RequestInit = {}): Promise<string> => {
          const headers = { 'content-type': 'application/json', connection: 'close' };
          return (await fetch(`${origin}${target}`, { ...init, headers })).text();
        };
        await eventually('it serves', () => ask('/health').catch(() => undefined));
        const body = JSON.stringify({ model: 'none', messages: [] });
        for (let at = 0; at < 10; at += 1) {
          assert.match(await ask('/v1/chat/completions', { method: 'POST', body }), /"error"/);
        }
        running.process.kill('SIGTERM');
        assert.equal((await running.ended).code, 0);
      });
    }
  }
});

describe('a terminal that stands still does not keep Sluice from answering and ending', () => {
  for (const workers of ['1', '2']) {
    test(`with --workers ${workers}`, { skip: withoutTerminal, timeout: 120_000 }, async (context) => {
      const folder = temporaryFolder(context);
      writeFileSync(path.join(folder, 'sluice.yaml'), 'detectLocal: false\nembedded: { enabled: false }\n');
      const address = `127.0.0.1:${await unusedPort()}`;
      // What comes first leaves no room in the terminal, which nobody shows.
      const sluice = `exec '${process.execPath}' '${SLUICE}' --bind ${address} --workers ${workers} --log-level debug`;
      const terminal = spawn('script', ['-qc', `head -c 1000000 /dev/zero & ${sluice}`, '/dev/null'], {
        cwd: folder,
        env: { PATH: process.env['PATH'], SHELL: '/bin/sh', HOME: folder, SLUICE_DATA_DIR: folder },
        stdio: ['pipe', await fullSocket(context, folder), 'ignore'],
      });
      const pid = await eventually('it runs', () => childrenOf(terminal.pid ?? 0)[0]);
      context.after(() => {
        for (const each of [...childrenOf(pid), pid]) if (isAlive(each)) process.kill(each, 'SIGKILL');
        terminal.kill('SIGKILL');
      });
      const body = JSON.stringify({ model: 'none', messages: [] });
      const ask = async (): Promise<string> => {
        const headers = { 'content-type': 'application/json', connection: 'close' };
        return (await fetch(`http://${address}/v1/chat/completions`, { method: 'POST', headers, body })).text();
      };
      await eventually('it serves', () => ask().catch(() => undefined));
      for (let at = 0; at < 10; at += 1) assert.match(await ask(), /"error"/);
      process.kill(pid, 'SIGTERM');
      await eventually('it has ended', () => !isAlive(pid));
    });
  }
});

test('what is said by a worker, and not by its log, is heard as before', { timeout: 120_000 }, async (context) => {
  const folder = temporaryFolder(context);
  writeFileSync(path.join(folder, 'sluice.yaml'), 'detectLocal: false\nembedded: { enabled: false }\n');
  const words = "if (process.connected) { console.error('said as an error'); console.log('said aloud'); }";
  const running = startSluice(context, ['--bind', '127.0.0.1:0', '--workers', '2'], {
    folder,
    environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(words)}` },
  });
  await Promise.all([running.said(/said as an error/), running.said(/said aloud/)]);
  running.process.kill('SIGTERM');
  assert.equal((await running.ended).code, 0);
});

test('a home in which nothing can be made only costs the cache of compiled code', {
  skip: !isLinux,
  timeout: 60_000,
}, async (context) => {
  // As an automounter does, /proc says of what cannot be made there that something above it is missing.
  const running = startSluice(context, ['--bind', '127.0.0.1:0'], {
    folder: temporaryFolder(context),
    environment: { HOME: '/proc/sluice', NODE_COMPILE_CACHE: '' },
  });
  await running.said(/is ready/);
  running.process.kill('SIGTERM');
  const { code, stderr } = await running.ended;
  assert.equal(code, 0, stderr);
});

test('a working directory that is gone is told in a line', { skip: process.platform === 'win32' }, (context) => {
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
  const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, SLUICE, '--bind', '127.0.0.1:0'], {
    cwd: temporaryFolder(context),
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /^sluice: .*directory.*\n$/);
});
