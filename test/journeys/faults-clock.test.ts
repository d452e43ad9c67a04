import assert from 'node:assert/strict';
import { after, before, describe, mock, test } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { MAIN_WAYS } from '../support/ways.ts';
import { readError } from '../support/wire-answers.ts';

// The clock of the machine is set while answers run: waits are as long as they would be anyway. A file of its own, since
// the time of day is that of the whole process.

const DAY = 24 * 60 * 60 * 1_000;

function jump(milliseconds: number): void {
  mock.timers.setTime(Math.max(0, Date.now() + milliseconds));
}

function* jumping(): Generator<string> {
  yield 'one ';
  jump(DAY);
  yield 'two ';
  jump(-2 * DAY);
  yield 'three';
}

function* backwards(): Generator<string> {
  yield 'begun';
  jump(-DAY);
  yield ' and';
}

describe('a clock that jumps', () => {
  let upstream: OpenAiUpstream;
  let gateway: Gateway;

  before(async () => {
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    upstream = await startOpenAiUpstream(({ prompt }) =>
      prompt === 'falls-silent' ? { text: backwards(), stallAfter: 2 } : { text: jumping(), delayMs: 250 },
    );
    gateway = await startGateway(
      `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }
limits: { firstByteMs: 5000, idleMs: 1500, totalMs: 20000, attempts: 1 }`,
    );
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
    mock.timers.reset();
  });

  test('forgets no file of which pieces come', async () => {
    mock.timers.setTime(Math.round(performance.timeOrigin + performance.now()));
    const send = async (url: string, headers: Record<string, string>, body?: string): Promise<Headers> => {
      const answer = await fetch(url, { method: 'POST', headers, ...(body !== undefined && { body }) });
      assert.equal(answer.status, 200, await answer.text());
      return answer.headers;
    };
    const begin = async (): Promise<string> => {
      const start = { 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start' };
      return (await send(`${gateway.origin}/upload/v1beta/files`, start)).get('x-goog-upload-url') ?? '';
    };
    const url = await begin();
    const first = { 'x-goog-upload-command': 'upload', 'x-goog-upload-offset': '0' };
    await send(url, first, 'one');
    jump(3 * DAY);
    // Whoever begins makes room for it.
    await begin();
    const last = { 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '3' };
    const ended = await send(url, last, 'two');
    assert.equal(ended.get('x-goog-upload-status'), 'final');
    assert.equal(ended.get('x-goog-upload-size-received'), '6');
    jump(-3 * DAY);
  });

  const asked = (content: string) => ({ provider: 'mock', model: 'm', messages: [{ role: 'user', content }] });

  for (const [title, way] of Object.entries(MAIN_WAYS)) {
    test(`${title}: ends nothing before its time`, { timeout: 30_000 }, async () => {
      const said = way.read(await way.ask(gateway.origin, asked('Hi')));
      assert.equal(said.text, 'one two three');
      assert.equal(said.finish, 'stop');
    });

    test(`${title}: a silence ends in its time`, { timeout: 30_000 }, async () => {
      const received = await way.ask(gateway.origin, asked('falls-silent'));
      const error = way.isWhole ? readError(received) : way.read(received).error;
      assert.match(String(error?.['message']), /has sent nothing for 1500 ms|has not begun to answer within 5000 ms/);
    });
  }
});
