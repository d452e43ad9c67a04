import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { CallScope } from '../core/call.ts';
import { type ErrorCode, type ErrorOptions, SluiceError } from '../core/errors.ts';
import type { Provider } from '../core/provider.ts';
import { attempt } from './attempt.ts';
import { Health } from './health.ts';
import type { Target } from './select.ts';

const target = (id: string): Target => ({
  provider: { id, label: id, origin: 'file', auth: { kind: 'none' }, models: async () => [] } satisfies Provider,
  model: `model-of-${id}`,
});
const [a, b, c, d] = [target('a'), target('b'), target('c'), target('d')];
const LIMITS = { attempts: 3, retryWaitMs: 2_000 };
/** A clock by which nobody has rested for long enough yet. */
const STILL = () => 0;

type Outcome = 'ok' | ErrorCode | readonly [ErrorCode, ErrorOptions] | Error;

interface Run {
  readonly value: string | undefined;
  readonly error: SluiceError | undefined;
  /** Ids of the targets in the order in which they were asked. */
  readonly asked: readonly string[];
  readonly attempts: number | undefined;
  readonly tookMs: number;
}

/** Runs attempts against targets that behave as scripted, the last outcome for ever. */
async function run(
  targets: readonly Target[],
  script: Readonly<Record<string, readonly Outcome[]>>,
  limits = LIMITS,
  health = new Health(),
  call = new CallScope('request', testLogger()),
): Promise<Run> {
  const asked: string[] = [];
  const began = performance.now();
  const open = async ({ provider: { id } }: Target): Promise<string> => {
    const outcomes = script[id] ?? ['ok'];
    const outcome = outcomes[Math.min(asked.filter((each) => each === id).length, outcomes.length - 1)] ?? 'ok';
    asked.push(id);
    if (outcome === 'ok') return `answer of ${id}`;
    if (outcome instanceof Error) throw outcome;
    const [code, options] = typeof outcome === 'string' ? [outcome, {}] : outcome;
    throw new SluiceError(code, `${id} failed`, options);
  };
  try {
    const { value, attempts } = await attempt(targets, call, limits, health, open);
    return { value, attempts, error: undefined, asked, tookMs: performance.now() - began };
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return { value: undefined, attempts: undefined, error, asked, tookMs: performance.now() - began };
  }
}

describe('attempts', () => {
  test('a target that asks for patience is tried again, however often others were meanwhile', async () => {
    const script = { a: [['rate_limited', { retryAfter: 1 }], 'ok'], b: ['upstream_unreachable'] } as const;
    const { value, asked } = await run([a, b], script, { attempts: 12, retryWaitMs: 3_000 });
    assert.equal(value, 'answer of a');
    assert.ok(asked.filter((id) => id === 'b').length > 1, asked.join());
  });

  test('nobody is asked for whoever has left, nor where the time is over', async () => {
    const gone = new CallScope('request', testLogger());
    gone.cancel();
    const left = await run([a, b], {}, LIMITS, new Health(), gone);
    assert.deepEqual([left.error?.code, left.asked], ['cancelled', []]);
    const late = new CallScope('request', testLogger());
    late.cancel(new SluiceError('upstream_timeout', 'The answer took longer than 5 ms.'));
    const over = await run([a, b], {}, LIMITS, new Health(), late);
    assert.deepEqual([over.error?.code, over.error?.options.provider, over.asked], ['upstream_timeout', 'a', []]);
  });

  test('the first target that can answers', async () => {
    const { value, asked, attempts } = await run([a, b, c], { a: ['upstream_unreachable'] });
    assert.equal(value, 'answer of b');
    assert.deepEqual(asked, ['a', 'b']);
    assert.equal(attempts, 2);
  });

  for (const code of [
    'upstream_unreachable',
    'upstream_cut',
    'upstream_failed',
    'provider_failed',
    'overloaded',
  ] as const) {
    test(`${code}: the same target is tried again, three times in all`, async () => {
      const { error, asked } = await run([a], { a: [code] });
      assert.deepEqual(asked, ['a', 'a', 'a']);
      assert.equal(error?.code, code);
      assert.deepEqual([error?.options.provider, error?.options.model], ['a', 'model-of-a']);
    });
  }

  for (const code of [
    'upstream_timeout',
    'upstream_invalid',
    'missing_credentials',
    'forbidden',
    'model_not_found',
    'not_supported',
    'rate_limited',
    'insufficient_quota',
    'context_length_exceeded',
  ] as const) {
    test(`${code}: not again, but the next target`, async () => {
      assert.deepEqual((await run([a], { a: [code] })).asked, ['a']);
      assert.deepEqual((await run([a, b], { a: [code] })).asked, ['a', 'b']);
    });
  }

  for (const code of ['invalid_request', 'too_large'] as const) {
    test(`${code}: nobody else is asked`, async () => {
      const { error, asked } = await run([a, b], { a: [code] });
      assert.deepEqual(asked, ['a']);
      assert.equal(error?.code, code);
    });
  }

  test('a storage of ours that fails is logged, ends it, and is nothing against the target', async () => {
    const log = testLogger();
    const health = new Health(STILL);
    const script = { a: [['storage_failed', { retryAfter: 1 }]] } as const;
    const { error, asked } = await run([a, b], script, LIMITS, health, new CallScope('r', log));
    assert.deepEqual(asked, ['a']);
    assert.equal(error?.code, 'storage_failed');
    assert.ok(log.lines.some(({ level }) => level === 'error'));
    assert.deepEqual(health.order([a, b]), [a, b]);
  });

  test('a mistake of ours is logged, ends it, and loses its text', async () => {
    const log = testLogger();
    const { error, asked } = await run(
      [a, b],
      { a: [new TypeError('secret')] },
      LIMITS,
      new Health(),
      new CallScope('r', log),
    );
    assert.deepEqual(asked, ['a']);
    assert.equal(error?.code, 'internal');
    assert.doesNotMatch(error?.message ?? '', /secret/);
    assert.ok(log.lines.some(({ level }) => level === 'error'));
  });

  test('a failure of an upstream is no mistake of ours in the log, and has none of its words', async () => {
    const log = testLogger();
    await run([a, b], { a: ['upstream_failed'] }, LIMITS, new Health(), new CallScope('r', log));
    assert.deepEqual(
      log.lines.map(({ level, message }) => [level, message]),
      [
        ['info', 'attempt failed'],
        ['info', 'answered after failures'],
      ],
    );
    assert.doesNotMatch(JSON.stringify(log.lines), /a failed/);
  });

  test('a key that is refused rests, and is not tried again whatever the upstream says', async () => {
    const health = new Health(STILL);
    const [first, second] = [
      { ...a, key: 0 },
      { ...a, key: 1 },
    ];
    for (const fault of ['missing_credentials', 'forbidden'] as const) {
      const asked: (number | undefined)[] = [];
      await attempt([first, second], new CallScope('r', testLogger()), LIMITS, health, async ({ key }) => {
        asked.push(key);
        if (asked.length === 1) throw new SluiceError(fault, '', { retryAfter: 1 });
      });
      assert.deepEqual(asked, [0, 1], fault);
      assert.deepEqual(health.order([first, second]), [second, first]);
      health.succeeded(first);
    }
    assert.deepEqual((await run([a], { a: [['missing_credentials', { retryAfter: 1 }], 'ok'] })).asked, ['a']);
  });

  test('never more attempts than the limit, however many targets there are', async () => {
    assert.deepEqual((await run([a, b, c, d], { a: ['overloaded'], b: ['overloaded'], c: ['overloaded'] })).asked, [
      'a',
      'b',
      'c',
    ]);
    assert.deepEqual(
      (await run([a, b], { a: ['overloaded'], b: ['overloaded'] }, { attempts: 1, retryWaitMs: 1_000 })).asked,
      ['a'],
    );
  });

  test('not before the time that the upstream named', async () => {
    const { value, asked, tookMs } = await run([a], { a: [['rate_limited', { retryAfter: 1 }], 'ok'] });
    assert.equal(value, 'answer of a');
    assert.deepEqual(asked, ['a', 'a']);
    assert.ok(tookMs >= 999, `${tookMs} ms`);
  });

  test('a time that has come is waited for no less than where none was named', async (context) => {
    context.mock.method(Math, 'random', () => 0.999);
    for (const code of ['overloaded', 'rate_limited'] as const) {
      const script = { a: [[code, { retryAfter: 0 }]] } as const;
      // 150 ms and 300 ms.
      assert.equal((await run([a], script, { attempts: 3, retryWaitMs: 100 })).asked.length, 1);
      assert.equal((await run([a], script, { attempts: 3, retryWaitMs: 400 })).asked.length, 2);
      assert.equal((await run([a], script, { attempts: 3, retryWaitMs: 500 })).asked.length, 3);
    }
  });

  test('a time that is too long to wait is passed on at once', async () => {
    const { error, asked, tookMs } = await run([a], { a: [['rate_limited', { retryAfter: 30 }]] });
    assert.deepEqual(asked, ['a']);
    assert.equal(error?.options.retryAfter, 30);
    assert.ok(tookMs < 15_000);
  });

  test('the waits of one request never sum up to more than the limit', async () => {
    const { asked, tookMs } = await run(
      [a],
      { a: [['overloaded', { retryAfter: 1 }]] },
      { attempts: 10, retryWaitMs: 1_500 },
    );
    assert.deepEqual(asked, ['a', 'a']);
    assert.ok(tookMs < 15_000);
    assert.deepEqual((await run([a], { a: ['overloaded'] }, { attempts: 10, retryWaitMs: 0 })).asked, ['a']);
  });

  test('waits differ from each other by chance', async (context) => {
    const chance = context.mock.method(Math, 'random', () => 0);
    const limits = { attempts: 10, retryWaitMs: 120 };
    // The first wait is at least half of 150 ms, and at most all of them.
    assert.deepEqual((await run([a], { a: ['overloaded'] }, limits)).asked, ['a', 'a']);
    chance.mock.mockImplementation(() => 0.999);
    assert.deepEqual((await run([a], { a: ['overloaded'] }, limits)).asked, ['a']);
  });

  test('each wait is twice as long as the one before', async (context) => {
    context.mock.method(Math, 'random', () => 0.999);
    const script = { a: ['overloaded'] } as const;
    // 150 ms and 300 ms.
    assert.equal((await run([a], script, { attempts: 3, retryWaitMs: 400 })).asked.length, 2);
    assert.equal((await run([a], script, { attempts: 3, retryWaitMs: 500 })).asked.length, 3);
  });

  test('a target that failed comes last the next time', async () => {
    for (const fault of ['upstream_unreachable', 'upstream_timeout', 'rate_limited', 'insufficient_quota'] as const) {
      const health = new Health(STILL);
      await run([a, b], { a: [fault] }, LIMITS, health);
      assert.deepEqual((await run([a, b], {}, LIMITS, health)).asked, ['b'], fault);
      assert.deepEqual((await run([a], {}, LIMITS, health)).asked, ['a']);
      assert.deepEqual((await run([a, b], {}, LIMITS, health)).asked, ['a']);
    }
  });

  test("a request's own fault does not count against the target", async () => {
    const health = new Health(STILL);
    for (const fault of [
      ...(['invalid_request', 'not_supported', 'context_length_exceeded'] as const),
      ...(['model_not_found', 'missing_credentials', 'forbidden'] as const),
    ]) {
      await run([a], { a: [fault] }, LIMITS, health);
      assert.deepEqual((await run([a, b], {}, LIMITS, health)).asked, ['a']);
    }
    // Nor against one of several keys, unless it is refused.
    const keyed = { ...a, key: 0 };
    for (const fault of ['not_supported', 'context_length_exceeded', 'model_not_found'] as const) {
      await run([keyed], { a: [fault] }, LIMITS, health);
      assert.deepEqual(health.order([keyed, b]), [keyed, b], fault);
    }
  });

  // Those that do not heed it wait for longer than the test may take.
  const PATIENT = { attempts: 3, retryWaitMs: 300_000 };
  const waits = { a: [['overloaded', { retryAfter: 180 }]] } as const;

  test('a client that leaves ends the waiting', { timeout: 60_000 }, async () => {
    const call = new CallScope('request', testLogger());
    const reason = new SluiceError('cancelled', 'The client left.');
    setTimeout(() => call.cancel(reason), 50);
    const { error, asked } = await run([a], waits, PATIENT, new Health(), call);
    assert.equal(error, reason);
    assert.deepEqual(asked, ['a']);
  });

  test('time that is over ends the waiting too, and names whoever was asked', { timeout: 60_000 }, async () => {
    const call = new CallScope('request', testLogger());
    setTimeout(() => call.cancel(new SluiceError('upstream_timeout', 'over')), 50);
    const { error } = await run([a], waits, PATIENT, new Health(), call);
    assert.deepEqual([error?.code, error?.options.provider], ['upstream_timeout', 'a']);
  });

  test('a client that leaves during an attempt is no failure of the target', async () => {
    const call = new CallScope('request', testLogger());
    const health = new Health(STILL);
    const asked: Target[] = [];
    const leaving = attempt([a, b], call, LIMITS, health, async (each) => {
      asked.push(each);
      call.cancel();
      throw new SluiceError('upstream_cut', 'cut');
    });
    await assert.rejects(leaving, { code: 'cancelled' });
    assert.deepEqual(asked, [a]);
    assert.deepEqual(health.order([a, b, c]), [a, b, c]);
  });
});
