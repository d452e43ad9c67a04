import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
