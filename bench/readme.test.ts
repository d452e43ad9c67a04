import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nginxConfiguration } from './beside.ts';
import type { Figures, LaneName } from './lanes.ts';
import { readmeBlock, withBlock } from './readme.ts';
import { type Results, summarise, table } from './report.ts';

const results: Results = new Map([
  [
    'json',
    new Map<LaneName, readonly Figures[]>([
      [
        'bare',
        [
          { cpu: 100, perSecond: 5000 },
          { cpu: 200, perSecond: 4000 },
        ],
      ],
      [
        'sluice',
        [
          { cpu: 80, perSecond: 6000 },
          { cpu: 150, perSecond: 5000 },
        ],
      ],
      [
        'portkey',
        [
          { cpu: 1400, perSecond: 500 },
          { cpu: 2800, perSecond: 400 },
        ],
      ],
    ]),
  ],
  [
    'flat',
    new Map<LaneName, readonly Figures[]>([
      ['bare', [{ cpu: 6 }]],
      ['typed', [{ cpu: 7.5 }]],
    ]),
  ],
]);

describe('the report', () => {
  const lines = summarise(results);

  test('compares every gateway with the pass-through of the same round', () => {
    const [line] = lines;
    assert.deepEqual(line?.beside, { portkey: { figure: 2100, ratio: 14 } });
    assert.equal(line?.ratio, 0.775);
    assert.equal(line?.met, true);
  });

  test('compares with another gateway where that was measured', () => {
    const over = lines.find(({ label }) => label.includes('Portkey'));
    assert.ok(Math.abs((over?.ratio ?? 0) - (80 / 1400 + 150 / 2800) / 2) < 1e-9);
    assert.equal(over?.met, true);
    const alone = new Map([['json', new Map([...(results.get('json') ?? [])].filter(([lane]) => lane !== 'portkey'))]]);
    assert.deepEqual(
      summarise(alone).filter(({ label }) => label.includes('Portkey')),
      [],
    );
  });

  test('has a column for each other gateway, also for one that was not there', () => {
    const [head, first, second, , typed] = table(lines, ['nginx', 'portkey']).split('\n');
    assert.match(head ?? '', /bare +nginx +portkey +sluice/);
    assert.match(first ?? '', /150 +not measured +2100 +115/);
    assert.match(second ?? '', /4500 +not measured +450 +5500/);
    assert.doesNotMatch(typed ?? '', /not measured/);
  });

  test('goes into the README between its marks, with the date', () => {
    const run = { date: '2026-11-20', machine: 'Node 26', rounds: 2, others: ['nginx', 'portkey'] as const };
    const text = withBlock('a\n<!-- bench -->\nold\n<!-- /bench -->\nz\n', readmeBlock(lines, run));
    assert.equal(
      text,
      `a
<!-- bench -->
Measured on 2026-11-20, Node 26, 2 rounds, medians; CPU as a multiple of the pass-through's:

|  | Sluice | Rounds | Pass-through | nginx | Portkey 1.15.2 |
| --- | --- | --- | --- | --- | --- |
| 1 KB request, CPU | 0.78 | 0.75–0.80 | 1 | not measured | 14.00 |
| requests a second | 5500 |  | 4500 | not measured | 450 |
| the same, conversation (typed chunks) | 1.25 | 1.25–1.25 | 1 | – | – |
<!-- /bench -->
z
`,
    );
    assert.throws(() => withBlock('no marks', ''), /README\.md has no <!-- bench -->/);
  });
});

test('nginx writes into its own folder only, and listens on loopback only', () => {
  const text = nginxConfiguration('/a/b', 1, 2);
  for (const [, place] of text.matchAll(/(?:_temp_path|pid) (\S+);/g)) assert.match(place ?? '', /^\/a\/b\//);
  assert.match(text, /listen 127\.0\.0\.1:1;/);
  assert.match(text, /server 127\.0\.0\.1:2;/);
});
