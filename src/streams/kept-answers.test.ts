import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { testCall } from '../../test/support/call.ts';
import { SluiceError } from '../core/errors.ts';
import { KeptAnswers, type KeptLimits, tagOfAnswer } from './kept-answers.ts';

const LIMITS: KeptLimits = {
  unattendedMs: 1_000,
  keptAnswerMs: 500,
  keptAnswerBytes: 1_000,
  keptAnswers: 3,
  keptAnswersPerClient: 2,
};

function clock(context: TestContext): (milliseconds: number) => void {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  return (milliseconds) => context.mock.timers.tick(milliseconds);
}

const codeOf = (code: string) => (error: unknown) => error instanceof SluiceError && error.code === code;

describe('kept answers', () => {
  test('have ids of 128 bits, all different', () => {
    const answers = new KeptAnswers(() => ({ ...LIMITS, keptAnswers: 100 }));
    const ids = Array.from({ length: 100 }, () => answers.open(undefined, testCall()).id);
    for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/);
    assert.equal(new Set(ids).size, 100);
  });

  test('tell by their ids whose they are', () => {
    const { id } = new KeptAnswers(() => LIMITS, '00af').open(undefined, testCall());
    assert.equal(tagOfAnswer(id), '00af');
    for (const other of [`x${id}`, `${id}x`, `${id}0`, `0${id}`, id.slice(4), id.toUpperCase(), ''])
      assert.equal(tagOfAnswer(other), undefined, other);
  });

  test('are stopped when nobody reads them for long', (context) => {
    const tick = clock(context);
    const call = testCall();
    const answer = new KeptAnswers(() => LIMITS).open(undefined, call);
    const leave = answer.attend();
    tick(5_000);
    leave();
    tick(999);
    const leaveAgain = answer.attend();
    tick(5_000);
    assert.equal(call.cancelled, undefined, 'a reader in between counts');
    leaveAgain();
    tick(999);
    assert.equal(call.cancelled, undefined);
    tick(1);
    assert.match(String(call.cancelled), /Nobody has read this answer for 1000 ms/);
    assert.equal(answer.stopped, false);
  });

  test('are forgotten some time after their end, and after their last reader', (context) => {
    const tick = clock(context);
    const answers = new KeptAnswers(() => LIMITS);
    const [read, unread] = [answers.open(undefined, testCall()), answers.open(undefined, testCall())];
    const leave = read.attend();
    read.end('data: x\n\n');
    unread.end();
    tick(499);
    assert.equal(answers.size, 2);
    tick(1);
    assert.equal(answers.find(unread.id), undefined);
    assert.equal(answers.find(read.id), read);
    tick(5_000);
    leave();
    tick(499);
    assert.equal(answers.find(read.id), read);
    tick(1);
    assert.equal(answers.size, 0);
  });

  test('a stop cancels what runs, once, and changes nothing after the end', () => {
    const answers = new KeptAnswers(() => LIMITS);
    const [running, ended] = [testCall(), testCall()];
    const answer = answers.open(undefined, running);
    answer.stop();
    answer.stop();
    assert.equal((running.cancelled as SluiceError).code, 'cancelled');
    assert.ok(answer.stopped);
    const other = answers.open(undefined, ended);
    other.end();
    other.stop();
    assert.equal(ended.cancelled, undefined);
    assert.ok(!other.stopped);
  });

  test('one that has ended makes way, the oldest first; running ones and those being read do not', () => {
    const answers = new KeptAnswers(() => LIMITS);
    const [first, second, third] = [
      answers.open(undefined, testCall()),
      answers.open(undefined, testCall()),
      answers.open(undefined, testCall()),
    ];
    assert.throws(() => answers.open(undefined, testCall()), codeOf('overloaded'));
    const leave = first.attend();
    for (const answer of [first, second, third]) answer.end();
    answers.open(undefined, testCall());
    assert.equal(answers.find(second.id), undefined);
    assert.equal(answers.find(third.id), third);
    answers.open(undefined, testCall());
    assert.equal(answers.find(third.id), undefined);
    assert.throws(() => answers.open(undefined, testCall()), codeOf('overloaded'));
    leave();
    answers.open(undefined, testCall());
    assert.equal(answers.find(first.id), undefined);
    assert.equal(answers.size, 3);
  });

  test('one client cannot take all places, nor push out what others keep', () => {
    const answers = new KeptAnswers(() => LIMITS);
    const others = answers.open('10.0.0.2', testCall());
    others.end();
    const own = answers.open('10.0.0.1', testCall());
    answers.open('10.0.0.1', testCall());
    assert.throws(() => answers.open('10.0.0.1', testCall()), codeOf('rate_limited'));
    own.end();
    answers.open('10.0.0.1', testCall());
    assert.equal(answers.find(own.id), undefined);
    assert.equal(answers.find(others.id), others);
  });

  test('one that made way is no longer held by the time that ran for it', (context) => {
    const tick = clock(context);
    const answers = new KeptAnswers(() => ({ ...LIMITS, keptAnswers: 1 }));
    const forget = context.mock.method(answers, 'forget');
    answers.open(undefined, testCall()).end();
    answers.open(undefined, testCall());
    assert.equal(forget.mock.callCount(), 1);
    tick(5_000);
    assert.equal(forget.mock.callCount(), 1);
  });

  test('lower limits count from the next one on', () => {
    let limits = LIMITS;
    const answers = new KeptAnswers(() => limits);
    for (let index = 0; index < 3; index += 1) answers.open(undefined, testCall()).end();
    limits = { ...LIMITS, keptAnswers: 1 };
    answers.open(undefined, testCall());
    assert.equal(answers.size, 1);
  });
});
