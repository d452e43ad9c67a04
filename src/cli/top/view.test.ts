import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { growth, quantile, rate, Snapshot } from './snapshot.ts';
import { type Finished, milliseconds, number, type Shown, view } from './view.ts';

const metrics = (requests: number, tokens: number): string => `# HELP x y
# TYPE sluice_requests_total counter
sluice_info{version="1.2.3",node="26"} 1
sluice_requests_total{method="POST",route="/v1",dialect="openai",provider="acme",model="m",status="200"} ${requests}
sluice_requests_total{method="POST",route="/v1",dialect="openai",provider="",model="",status="502"} 3
sluice_requests_total{method="GET",route="/",dialect="",provider="",model="",status="200"} 999
sluice_requests_running 4
sluice_streams_running 2
sluice_tokens_total{provider="acme",model="m",type="output"} ${tokens}
sluice_upstream_attempts_total{provider="broken\\"one"} 5
sluice_upstream_errors_total{provider="broken\\"one",code="rate_limited"} 4
sluice_upstream_errors_total{provider="broken\\"one",code="upstream_cut"} 1
sluice_time_to_first_chunk_seconds_bucket{provider="acme",model="m",le="0.1"} 5
sluice_time_to_first_chunk_seconds_bucket{provider="acme",model="m",le="0.5"} 9
sluice_time_to_first_chunk_seconds_bucket{provider="acme",model="m",le="+Inf"} 10
process_resident_memory_bytes 104857600
nonsense
`;
const before = new Snapshot(metrics(10, 100), 1_000);
const now = new Snapshot(metrics(30, 500), 3_000);
const request = (more: Partial<Finished> = {}): Finished => ({
  time: '2026-11-20T18:00:01.000Z',
  dialect: 'openai',
  provider: 'acme',
  model: 'm',
  asked: 'm',
  status: 200,
  error: null,
  first_chunk_ms: 12.3,
  duration_ms: 1_234,
  usage: { total_tokens: 12_345 },
  cost: 0.0035,
  ...more,
});
const seen: Shown = {
  url: 'http://x',
  now,
  before,
  requests: [request(), request({ status: 502, error: { code: 'upstream_cut' }, provider: null, asked: 'a\x1b[2Jb' })],
};
const ENDLESS = { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY, colour: false };

describe('the live view', () => {
  test('reads metrics: sums, rates, quantiles', () => {
    assert.equal(now.sum('sluice_requests_total', { provider: 'acme' }), 30);
    assert.equal(now.sum('nobody'), undefined);
    assert.equal(rate(now, before, 'sluice_requests_total', { provider: 'acme' }), 10);
    assert.equal(rate(now, undefined, 'sluice_requests_total'), undefined);
    assert.equal(growth(before, now, 'sluice_requests_running'), 0);
    assert.equal(growth(before, now, 'sluice_requests_total', { provider: 'acme' }), 10, 'after a restart');
    assert.equal(quantile(now, 'sluice_time_to_first_chunk_seconds', 0.5), 0.1);
    assert.equal(quantile(now, 'sluice_time_to_first_chunk_seconds', 0.99), Number.POSITIVE_INFINITY);
    assert.equal(quantile(now, 'nobody', 0.5), undefined);
    assert.deepEqual(now.values('sluice_upstream_errors_total', 'provider'), ['broken"one']);
  });

  test('shows requests, streams, tokens a second, and errors by provider', () => {
    const text = view(seen, ENDLESS).join('\n');
    assert.match(text, /^Sluice 1\.2\.3 at http:\/\/x/);
    assert.match(text, /requests 33 \(10\/s\) +running 4 +streams 2 +errors 3/);
    assert.match(text, /out 200\/s/);
    assert.match(text, /memory 100 MiB/);
    assert.match(text, /acme +30 +10 +200 +<100ms\/more +-/);
    assert.match(text, /broken"one +0 +0 +0 +- +4 rate_limited, 1 upstream_cut/);
    assert.match(text, /:01 +200 +12ms +1\.2s +12\.3k +\$0\.0035 +openai +acme\/m/);
    assert.match(text, /502 upstream_cut/);
  });

  test('tells the time as clocks are where it is read', (context) => {
    const { TZ } = process.env;
    context.after(() => {
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
    });
    process.env['TZ'] = 'Asia/Kolkata';
    assert.match(view(seen, ENDLESS).join('\n'), /^23:30:01 +200/m);
  });

  test('nothing that others name reaches the terminal as a command', () => {
    const hostile = new Snapshot(
      'sluice_requests_total{dialect="openai",provider="\x1b[31mred",status="200"} 1\nsluice_info{version="\x1b]0;x"} 1',
      0,
    );
    const lines = view({ ...seen, now: hostile, url: 'http://x' }, ENDLESS);
    for (const line of lines) assert.doesNotMatch(line, /\p{Cc}/u);
  });

  test('fits any screen', () => {
    for (const columns of [1, 20, 80, 200]) {
      for (const rows of [1, 2, 5, 8, 12, 24, 60]) {
        const lines = view(seen, { columns, rows, colour: false });
        assert.ok(lines.length <= rows && lines.length > 0, `${lines.length} of ${rows}`);
        for (const line of lines) assert.ok(line.length <= columns);
      }
    }
    const coloured = view(seen, { columns: 20, rows: 24, colour: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the colours
    for (const line of coloured) assert.ok(line.replaceAll(/\x1b\[\d+m/g, '').length <= 20);
  });

  test('a narrow screen has all figures, and says that they are old', () => {
    const problem = 'Sluice cannot be reached at http://x (ECONNREFUSED); start it, or name another address with --url';
    const lines = view({ ...seen, problem }, { columns: 40, rows: 30, colour: false });
    const text = lines.join('\n');
    assert.match(text, /cannot be reached at http:\/\/x\s\(ECONNREFUSED\);/);
    for (const name of [
      'requests 33',
      'running 4',
      'errors 3',
      'fallbacks 0',
      'cost -',
      'loop lag p99 -',
      'descriptors -',
    ])
      assert.ok(text.includes(name), `${name} in ${text}`);
    for (const line of lines) assert.ok(line.length <= 40);
  });

  test('numbers are short', () => {
    assert.deepEqual([0, 7, 1.25, 999, 12_345, 12_345_678, undefined].map(number), [
      '0',
      '7',
      '1.3',
      '999',
      '12.3k',
      '12.3M',
      '-',
    ]);
    assert.deepEqual([undefined, 0.4, 999, 1_500, 12_000, Number.POSITIVE_INFINITY].map(milliseconds), [
      '-',
      '0ms',
      '999ms',
      '1.5s',
      '12s',
      'more',
    ]);
  });
});
