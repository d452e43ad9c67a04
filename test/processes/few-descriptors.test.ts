import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { ask } from '../support/raw-http.ts';

const SLUICE = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url));

describe('few file descriptors', { timeout: 240_000 }, () => {
  test('more connections than the process may have do not end it, and once they are gone it answers', async (context) => {
    const folder = temporaryFolder(context);
    writeFileSync(path.join(folder, 'sluice.yaml'), 'embedded: { enabled: false }\ndetectLocal: false\n');
    const child = startWithFew(folder);
    context.after(() => child.kill('SIGKILL'));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    const origin = await eventually('it serves', () => /Page +(http:\/\/[\d.:]+)/.exec(said)?.[1]);
    // A database that could not be opened any more would leave its descriptors for the configuration to be read with.
    await eventually('it is ready', () => isReady(origin));
    const sockets: Socket[] = [];
    // Something to say, and nothing can be loaded to say it with. Said until it is heard: it may be busy taking connections.
    const refused =
      /^\{"level":"warn","time":"[^"]+","msg":"the changed configuration is read later.*too many open files.*"file":"[^"]+sluice\.yaml"/m;
    await eventually('it complains', async () => {
      assert.equal(child.exitCode, null, `the process lives: ${complaints}`);
      // Again and again: what it has closed since, such as the connection of a request before, would be enough to read with.
      flood(origin, sockets, 50);
      writeFileSync(
        path.join(folder, 'sluice.yaml'),
        'embedded: { enabled: false }\ndetectLocal: false\nlogLevel: warn\n',
      );
      return refused.test(complaints);
    });
    for (const socket of sockets) socket.destroy();
    const answer = await eventually('it answers', async () => {
      const found = await ask(origin, { path: '/v1/models', headers: { connection: 'close' } }).catch(() => undefined);
      return found?.status === 200 ? found : undefined;
    });
    assert.equal(answer.status, 200);
    assert.equal(child.exitCode, null, complaints);
    // What could not be read then has been read since, though nobody has touched it.
    await eventually('the file is read', () => {
      const since = complaints.slice(complaints.lastIndexOf('too many open files'));
      return since.includes('a change of logLevel needs a restart');
    });
    await eventually('it is ready', () => isReady(origin));
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  });
});

describe('few file descriptors of workers', { timeout: 240_000, skip: process.platform !== 'linux' }, () => {
  test('connections that none of them can take wait, and afterwards all are answered', async (context) => {
    const folder = temporaryFolder(context);
    writeFileSync(path.join(folder, 'sluice.yaml'), 'embedded: { enabled: false }\ndetectLocal: false\n');
    const child = startWithFew(folder, '--workers', '2', '--log-level', 'debug');
    context.after(() => child.kill('SIGTERM'));
    let said = '';
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    await eventually('both serve', () => said.match(/a worker serves/g)?.length === 2);
    const origin = /Page +(http:\/\/[\d.:]+)/.exec(said)?.[1] ?? assert.fail(said);
    const workers = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
    const sockets: Socket[] = [];
    await eventually('both have no descriptor left', () => {
      // Few at a time: what the primary cannot accept is closed, and never reaches a worker.
      if (descriptors(child.pid) < 80) flood(origin, sockets, 10);
      return workers.every((pid) => descriptors(pid) >= 96);
    });
    await eventually('one was refused', () => said.includes('a worker cannot take a connection'));
    // Those came first, so they are with the workers, and make room for those that wait.
    for (const socket of sockets.splice(0, 40)) socket.destroy();
    const unheard = new Set(sockets);
    for (const socket of sockets) {
      socket.once('data', () => unheard.delete(socket));
      socket.write('Connection: close\r\n\r\n');
    }
    await eventually('all have an answer', () => unheard.size === 0);
    for (let at = 0; at < 8; at += 1) {
      const { status } = await ask(origin, { path: '/health', headers: { connection: 'close' } });
      assert.equal(status, 200);
    }
  });
});

/** Sluice with at most 96 descriptors a process. */
function startWithFew(folder: string, ...words: readonly string[]) {
  const all = [process.execPath, SLUICE, '--bind', '127.0.0.1:0', ...words];
  return spawn('sh', ['-c', 'ulimit -n 96 && exec "$0" "$@"', ...all], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, SLUICE_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function descriptors(pid: number | string | undefined): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

async function isReady(origin: string): Promise<true | undefined> {
  const { status } = await ask(origin, { path: '/ready', headers: { connection: 'close' } });
  return status === 200 ? true : undefined;
}

/**
 * Adds connections that send half a request each, until `most` are on their way. Waits for none of them: while nobody can be
 * taken, the system may let some try for half a minute.
 */
function flood(origin: string, sockets: Socket[], most: number): void {
  const { hostname, port } = new URL(origin);
  for (let underway = sockets.filter(({ connecting }) => connecting).length; underway < most; underway += 1) {
    const socket = connect(Number(port), hostname, () =>
      socket.write('GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n'),
    );
    // It may be refused.
    socket.on('error', () => {});
    sockets.push(socket);
  }
}
