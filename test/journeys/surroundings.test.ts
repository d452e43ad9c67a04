import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { temporaryFolder } from '../support/config-folder.ts';
import { startSluice } from '../support/run-sluice.ts';

const isLinux = process.platform === 'linux';

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
    assert.match(answer, /^507 .*The bundled model cannot be unpacked into the data directory/);
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

describe('a log that nobody reads any more', () => {
  for (const workers of ['1', '2']) {
    test(`does not keep Sluice from answering and ending, with --workers ${workers}`, {
      skip: !isLinux,
      timeout: 120_000,
    }, async (context) => {
      const folder = temporaryFolder(context);
      writeFileSync(path.join(folder, 'sluice.yaml'), 'detectLocal: false\nembedded: { enabled: false }\n');
      const words = ['--bind', '127.0.0.1:0', '--workers', workers, '--log-level', 'debug'];
      const running = startSluice(context, words, { folder, stderr: fullPipe(context, folder) });
      const [, address] = await running.said(/Page +http:\/\/(\S+)\//);
      const body = JSON.stringify({ model: 'none', messages: [] });
      for (let at = 0; at < 10; at += 1) {
        const headers = { 'content-type': 'application/json', connection: 'close' };
        const answer = await fetch(`http://${address}/v1/chat/completions`, { method: 'POST', headers, body });
        assert.match(await answer.text(), /"error"/);
      }
      running.process.kill('SIGTERM');
      assert.equal((await running.ended).code, 0);
    });
  }
});
