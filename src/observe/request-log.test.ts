import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Seen } from './observation.ts';
import { RequestLog } from './request-log.ts';

const seen = (id: string, more: Partial<Seen> = {}): Seen => ({
  id,
  time: Number.parseInt(id, 36),
  method: 'POST',
  route: '/v1/chat/completions',
  dialect: 'openai',
  operation: 'chat',
  user: 'unknown',
  status: 200,
  stream: false,
  duration: 1,
  cost: null,
  attempts: 1,
  failures: [],
  ...more,
});
const logOf = (...entries: readonly Seen[]): RequestLog => {
  const log = new RequestLog({ entries: 1_000, bytes: 1_000_000 });
  for (const entry of entries) log.add(entry);
  return log;
};
const ids = (log: RequestLog, query: Omit<Parameters<RequestLog['query']>[0], 'limit'> = {}): string[] =>
  log.query({ limit: 1_000, ...query }).entries.map(({ id }) => id);

describe('the request log', () => {
  test('gives the newest first, page by page, also when they ended at the same time', () => {
    const log = logOf(...['a', 'b', 'c', 'd', 'e'].map((id) => seen(id, { time: 7 })));
    const first = log.query({ limit: 2 });
    assert.deepEqual([first.entries.map(({ id }) => id), first.total, first.next], [['e', 'd'], 5, 'd']);
    const second = log.query({ limit: 2, before: first.next });
    assert.deepEqual([second.entries.map(({ id }) => id), second.next], [['c', 'b'], 'b']);
    const last = log.query({ limit: 2, before: second.next });
    assert.deepEqual([last.entries.map(({ id }) => id), last.next], [['a'], undefined]);
    assert.deepEqual(ids(log, { after: 'c' }), ['e', 'd']);
    assert.deepEqual(ids(log, { before: 'nobody' }), []);
  });

  test('keeps as many as it may, and never shows more', () => {
    const log = new RequestLog({ entries: 20, bytes: 1_000_000 });
    for (let n = 0; n < 100; n += 1) {
      log.add(seen(`r${n}`));
      const shown = ids(log);
      assert.equal(shown.length, Math.min(20, n + 1));
      assert.equal(shown[0], `r${n}`);
      assert.ok(log.size <= 22);
    }
    assert.equal(log.find('r79'), undefined);
    assert.equal(log.find('r80')?.id, 'r80');
  });

  test('tells the same of old entries and of fresh ones, whatever becomes of the objects', () => {
    const log = new RequestLog({ entries: 1_000, bytes: 1_000_000 });
    for (let n = 0; n < 900; n += 1) {
      const entry = { ...seen(`r${n}`, { time: n, provider: `p${n % 3}` }), running: true };
      log.add(entry);
      Object.assign(entry, { time: -1, provider: 'another' });
    }
    for (const n of [0, 500, 599, 600, 899]) {
      assert.deepEqual(log.find(`r${n}`), seen(`r${n}`, { time: n, provider: `p${n % 3}` }));
    }
    assert.deepEqual(ids(log, { provider: 'p2', after: 590, before: 603 }), ['r602', 'r599', 'r596', 'r593']);
    assert.deepEqual(
      log.from(898, 5).map((text) => JSON.parse(text)),
      [seen('r898', { time: 898, provider: 'p1' }), seen('r899', { time: 899, provider: 'p2' })],
    );
  });

  test('contents make room when they take too much', () => {
    const log = new RequestLog({ entries: 100, bytes: 10_000 });
    const content = { request: { body: 'x'.repeat(3_000), truncated: false }, answer: null };
    for (const id of ['a', 'b', 'c', 'd']) log.add(seen(id, { content }));
    assert.deepEqual(ids(log), ['d', 'c']);
    log.add(seen('huge', { content: { ...content, request: { body: 'x'.repeat(20_000), truncated: true } } }));
    assert.deepEqual(ids(log), ['huge']);
    assert.equal(log.clear(), 1);
    assert.deepEqual(ids(log), []);
  });

  test('finds by provider, model and user, also those that failed on the way', () => {
    const failures = [{ provider: 'first', model: 'small', code: 'rate_limited', status: 429, after: 0, duration: 1 }];
    const log = logOf(
      seen('a', { provider: 'first', model: 'm', user: 'Ann' }),
      seen('b', { provider: 'second', model: 'large', asked: 'fast', failures }),
      seen('c'),
    );
    assert.deepEqual(ids(log, { provider: 'FIRST' }), ['b', 'a']);
    assert.deepEqual(ids(log, { provider: 'fir' }), []);
    assert.deepEqual(ids(log, { model: 'small' }), ['b']);
    assert.deepEqual(ids(log, { model: 'Fast' }), ['b']);
    assert.deepEqual(ids(log, { user: 'ann' }), ['a']);
    assert.deepEqual(ids(log, { provider: 'first', model: 'm' }), ['a']);
  });

  test('finds by status; a stream that broke off is no success', () => {
    const error = { code: 'upstream_cut', name: 'ConnectionError' };
    const log = logOf(
      seen('a'),
      seen('b', { status: 429, error: { code: 'rate_limited', name: 'RateLimitError' } }),
      seen('c', { error }),
      seen('d', { status: 502, error }),
    );
    assert.deepEqual(ids(log, { status: 'ok' }), ['a']);
    assert.deepEqual(ids(log, { status: 'error' }), ['d', 'c', 'b']);
    assert.deepEqual(ids(log, { status: '429' }), ['b']);
    assert.deepEqual(ids(log, { status: '5xx' }), ['d']);
    assert.deepEqual(ids(log, { status: '200' }), ['c', 'a']);
  });

  test('finds by text and time', () => {
    const answer = { text: 'The Tide rises', reasoning: '', tool_calls: [], truncated: false };
    const request = { body: { messages: [{ content: 'Moon' }] }, truncated: false };
    const log = logOf(
      seen('a', { time: 10, content: { request, answer: null } }),
      seen('b', { time: 20, content: { request: null, answer } }),
      seen('c', { time: 30, error: { code: 'rate_limited', name: 'RateLimitError' } }),
    );
    assert.deepEqual(ids(log, { text: 'moon' }), ['a']);
    assert.deepEqual(ids(log, { text: 'tide RISES' }), ['b']);
    assert.deepEqual(ids(log, { text: 'ratelimit' }), ['c']);
    assert.deepEqual(ids(log, { before: 20 }), ['a']);
    assert.deepEqual(ids(log, { after: 10, before: 30 }), ['b']);
  });

  test('takes in what an earlier run kept, once', () => {
    const log = logOf(seen('c'));
    log.restore([seen('a'), seen('b'), seen('c')]);
    assert.deepEqual(ids(log), ['c', 'b', 'a']);
  });
});
