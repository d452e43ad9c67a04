import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findings, type Run, type Sample } from './verdict.ts';

/** An hour of a process that breathes: memory goes up and down with what is under way, with a peak now and then. */
function samples(change: (sample: Sample, index: number) => Sample = (sample) => sample): readonly Sample[] {
  return Array.from({ length: 120 }, (_, index) => {
    const residentMiB = 180 + (index % 7) * 3 + (index % 31 === 0 ? 90 : 0);
    const usedMiB = 40 + (index % 3) * 0.2;
    return change({ seconds: index * 30, usedMiB, residentMiB, highestMiB: 270, descriptors: 60 + (index % 5) }, index);
  });
}

const tally = { asked: 100, answered: 80, failed: 20, unexpected: 0, hung: 0 };
const good: Run = {
  samples: samples(),
  warmUpSeconds: 300,
  tallies: new Map([['chat', tally]]),
  crashed: undefined,
  descriptors: { before: 40, after: 45 },
  leftOpen: 0,
};

describe('the verdict of a soak', () => {
  test('finds nothing in a process that only breathes', () => assert.deepEqual(findings(good), []));

  test('does not hold the warm-up against it', () => {
    const grown = samples((sample, index) => (index < 10 ? { ...sample, residentMiB: 60 + index * 10 } : sample));
    assert.deepEqual(findings({ ...good, samples: grown }), []);
  });

  for (const [title, change, says] of [
    ['a crash', { crashed: 'SIGSEGV' }, /ended by itself: SIGSEGV/],
    ['an answer that nobody injected', { tallies: new Map([['chat', { ...tally, unexpected: 1 }]]) }, /chat: 1 of 100/],
    [
      'an answer that never came',
      { tallies: new Map([['chat', { ...tally, hung: 2 }]]) },
      /chat: 2 of 100 came to no end/,
    ],
    ['what was never asked', { tallies: new Map([['chat', { ...tally, asked: 0 }]]) }, /chat: was never asked/],
    [
      'memory in use that grows by some bytes a request',
      { samples: samples((sample, index) => ({ ...sample, usedMiB: sample.usedMiB + index * 0.1 })) },
      /^memory in use rose by 1\d\.\d MiB/,
    ],
    [
      'memory that grows a little all the time',
      { samples: samples((sample, index) => ({ ...sample, residentMiB: sample.residentMiB + index * 0.5 })) },
      /^memory rose by 5\d MiB/,
    ],
    [
      'descriptors that are not closed',
      { samples: samples((sample, index) => ({ ...sample, descriptors: sample.descriptors + index })) },
      /descriptors rose by 1\d\d/,
    ],
    ['descriptors that stay', { descriptors: { before: 40, after: 57 } }, /57 descriptors are open/],
    ['streams that nobody reads', { leftOpen: 2 }, /2 answers of the upstream/],
    ['too short a look', { samples: samples().slice(0, 12) }, /only 2 looks/],
  ] as const satisfies readonly (readonly [string, Partial<Run>, RegExp])[]) {
    test(`finds ${title}`, () => {
      const found = findings({ ...good, ...change });
      assert.equal(found.length, 1, found.join('; '));
      assert.match(found[0] ?? '', says);
    });
  }
});
