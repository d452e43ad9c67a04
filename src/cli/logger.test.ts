import assert from 'node:assert/strict';
import { openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { eventually } from '../../test/support/eventually.ts';
import type { LogLevel } from '../config/kinds.ts';
import { SluiceError } from '../core/errors.ts';
import { createLogger } from './logger.ts';

/** A logger into a file, and what it wrote. */
function logging(context: TestContext, level: LogLevel = 'info') {
  const file = path.join(temporaryFolder(context), 'log');
  // Never closed: pino writes behind our back, and by then the number could belong to another file.
  const log = createLogger(level, openSync(file, 'a'));
  /** All lines as they stand there, of which there must be so many. */
  const texts = async (count = 1) => {
    log.flush();
    const written = () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '');
    // A write that was under way is not waited for by the flush; what comes too much comes soon.
    await eventually(`${count} lines`, () => written().length >= count);
    await sleep(50);
    assert.equal(written().length, count);
    return written();
  };
  const lines = async (count = 1) => (await texts(count)).map((line) => JSON.parse(line) as Record<string, unknown>);
  return { log, lines, texts };
}

test('a line is JSON with its level, time, fields and message', async (context) => {
  const { log, lines } = logging(context);
  log.child({ id: 'r1' }).child({ provider: 'mock' }).warn({ tries: 2 }, 'hello');
  const [{ time, ...line } = {}] = await lines();
  assert.deepEqual(line, { level: 'warn', id: 'r1', provider: 'mock', tries: 2, msg: 'hello' });
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('a line has no control characters', async (context) => {
  const { log, texts } = logging(context);
  const text = 'a\u0007b\u001bc\u007fd\u0080e\u009bf\u009fg\u00a0h';
  log.warn({ [text]: text }, text);
  const [line = ''] = await texts();
  assert.match(line, /^\P{Cc}+$/u);
  const said = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual([said['msg'], said[text]], [text, text]);
});

for (const [level, count] of [
  ['debug', 4],
  ['info', 3],
  ['warn', 2],
  ['error', 1],
  ['silent', 0],
] as const) {
  test(`level ${level} writes ${count} of four lines`, async (context) => {
    const { log, lines } = logging(context, level);
    for (const target of [log, log.child({})]) {
      target.debug({}, 'd');
      target.info({}, 'i');
      target.warn({}, 'w');
      target.error({}, 'e');
    }
    await lines(2 * count);
  });
}

test('fields that are keys or cookies are masked, however deep and however written', async (context) => {
  const { log, lines } = logging(context);
  const secret = 'planted';
  const names = [
    ...['Authorization', 'proxy-authorization', 'auth', 'bearer', 'cookie', 'cookies', 'set-cookie'],
    ...['key', 'apikey', 'api_keys', 'x-api-key', 'X-API-Key', 'x-goog-api-key', 'accessKey', 'access_token'],
    ...['password', 'passwd', 'secret', 'client_secret', 'clientSecret', 'secretAccessKey', 'secret_access_key'],
    ...['token', 'id_token', 'refreshToken', 'session-token', 'authToken'],
  ];
  const headers = Object.fromEntries(names.map((name) => [name, name.startsWith('set-') ? [secret] : secret]));
  const harmless = { max_tokens: 5, author: 'a', keyboard: 'b', secretary: 'c', tokens: 6 };
  log.child({ apiKey: secret }).info({ key: secret, list: [{ api_key: secret }], request: { headers }, harmless }, 'x');
  const [line = {}] = await lines();
  assert.doesNotMatch(JSON.stringify(line), /planted/);
  assert.deepEqual(line['harmless'], harmless);
});

test('known secrets are masked wherever they stand', async (context) => {
  const { log, lines } = logging(context);
  log.hide(['planted-secret', 'with"quote\\and']);
  log.info({ url: 'http://h/?k=planted-secret', odd: 'a with"quote\\and b' }, 'said planted-secret');
  log.error({ err: new Error('refused planted-secret') }, 'x');
  const text = JSON.stringify(await lines(2));
  assert.doesNotMatch(text, /planted-secret/);
  assert.doesNotMatch(text, /quote/);
});

test('an error is its name, message, code, status, stack and cause, and nothing else', async (context) => {
  const { log, lines } = logging(context);
  const cause = Object.assign(new Error('the socket closed'), { code: 'ECONNRESET', requestBody: 'planted prompt' });
  log.error({ err: new SluiceError('upstream_cut', 'cut', { cause }) }, 'failed');
  const [line = {}] = await lines();
  const { stack: _, cause: logged, ...rest } = line['err'] as Record<string, unknown>;
  assert.deepEqual(rest, { type: 'ConnectionError', message: 'cut', code: 'upstream_cut', status: 502 });
  assert.equal((logged as { code?: string }).code, 'ECONNRESET');
  assert.doesNotMatch(JSON.stringify(line), /planted/);
});

test('circular and strange fields do no harm', async (context) => {
  const { log, lines } = logging(context);
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  log.info({ circle, socket: new AbortController(), at: new Date(0), big: 10n, nothing: undefined }, 'x');
  const [{ level, time: _, circle: logged, ...rest } = {}] = await lines();
  assert.equal(level, 'info');
  assert.match(JSON.stringify(logged), /^(?:\{"self":){2,8}"\[deeper\]"\}+$/);
  assert.deepEqual(rest, { socket: '[AbortController]', at: '1970-01-01T00:00:00.000Z', big: 10, msg: 'x' });
});

test('lines that the disk has no room for are lost, and hold up neither the process nor its end', {
  skip: process.platform !== 'linux' && 'only Linux has a disk that is always full',
}, async () => {
  const log = createLogger('info', openSync('/dev/full', 'w'));
  log.info({}, 'one');
  await sleep(50);
  log.info({}, 'two');
  log.flush();
});

test('of many lines at once none is lost, torn or doubled', async (context) => {
  const { log, lines } = logging(context);
  for (let count = 0; count < 2_000; count += 1) {
    log.info({ count, text: 'ö'.repeat(100) }, 'x');
    if (count % 500 === 0) await sleep(1);
  }
  const counts = (await lines(2_000)).map((line) => Number(line['count']));
  assert.deepEqual(
    counts.toSorted((one, other) => one - other),
    Array.from({ length: 2_000 }, (_, index) => index),
  );
});
