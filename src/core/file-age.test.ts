import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fileAge } from './file-age.ts';

const HOUR = 60 * 60_000;

/** This process began ten hours ago, and its clock was set since. */
function setBy(context: TestContext, hours: number): number {
  const now = Math.round(performance.timeOrigin) + (10 + hours) * HOUR;
  context.mock.method(performance, 'now', () => 10 * HOUR);
  context.mock.method(Date, 'now', () => now);
  return now;
}

test('a file is as old as the clock says that wrote it', (context) => {
  const now = setBy(context, 0);
  assert.equal(Math.round(fileAge(now - 3 * HOUR) / HOUR), 3);
  assert.equal(Math.round(fileAge(now - 30 * HOUR) / HOUR), 30);
});

test('a clock that is set forward makes no file older, and those that are written then age as others', (context) => {
  const now = setBy(context, 1000);
  assert.equal(Math.round(fileAge(now - 1000 * HOUR - 3 * HOUR) / HOUR), 3);
  assert.equal(Math.round(fileAge(now - 3 * HOUR) / HOUR), 3);
});

test('a clock that is set back makes no file older either', (context) => {
  const now = setBy(context, -1000);
  assert.equal(Math.round(fileAge(now - 3 * HOUR) / HOUR), 3);
  assert.ok(fileAge(now + 1000 * HOUR) < 0);
});
