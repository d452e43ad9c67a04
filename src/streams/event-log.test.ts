import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EventLog } from './event-log.ts';

const event = (data: string): string => `event: content\ndata: ${data}\n\n`;

/** All that is kept after an event. */
function rest(log: EventLog, after: number): string {
  const pieces: Buffer[] = [];
  for (let position = log.positionAfter(after); ; ) {
    const bytes = log.read(position) ?? assert.fail('no longer kept');
    if (bytes.length === 0) return Buffer.concat(pieces).toString('utf8');
    pieces.push(bytes);
    position += bytes.length;
  }
}

describe('a log of events', () => {
  test('numbers events from 1 on, also those that come together', () => {
    const log = new EventLog(10_000);
    log.append(event('a'));
    log.append('');
    log.append(event('b') + event('c'));
    assert.equal(log.count, 3);
    assert.equal(rest(log, 0), `id: 1\n${event('a')}id: 2\n${event('b')}id: 3\n${event('c')}`);
  });

  test('gives the same bytes after every event, across blocks and for any letters', () => {
    const log = new EventLog(8 * 1024 * 1024);
    const all = Array.from({ length: 5_000 }, (_, index) => event(`"${'ä世🌍'.repeat(index % 40)} ${index}"`));
    for (const each of all) log.append(each);
    const whole = rest(log, 0);
    let from = 0;
    for (const [index, each] of all.entries()) {
      if (index % 7 === 0) assert.equal(rest(log, index), whole.slice(from), `after ${index}`);
      from += `id: ${index + 1}\n${each}`.length;
    }
    assert.equal(rest(log, all.length), '');
  });

  test('keeps the newest events within its size, and says which are gone', () => {
    const log = new EventLog(4_000);
    for (let index = 1; index <= 1_000; index += 1) {
      log.append(event('x'.repeat(index % 100)));
      assert.ok(log.held <= 4_000, `${log.held} bytes are held`);
    }
    assert.ok(log.dropped > 900 && log.dropped < 990, `${log.dropped} are gone`);
    assert.match(rest(log, log.dropped), new RegExp(`^id: ${log.dropped + 1}\n`));
    assert.throws(() => log.positionAfter(log.dropped - 1), RangeError);
  });

  test('keeps the newest event whatever its size, and nothing beside it', () => {
    const log = new EventLog(1_000);
    log.append(event('small'));
    log.append(event('x'.repeat(500_000)));
    assert.equal(log.dropped, 1);
    assert.equal(rest(log, 1).length, `id: 2\n${event('')}`.length + 500_000);
    log.append(event('next'));
    assert.equal(rest(log, 2), `id: 3\n${event('next')}`);
    assert.ok(log.held <= 1_000);
  });

  test('takes no more memory than its bytes once it has ended', () => {
    for (const count of [0, 1, 2_000]) {
      const log = new EventLog(8 * 1024 * 1024);
      for (let index = 0; index < count; index += 1) log.append(event('x'.repeat(50)));
      const before = rest(log, 0);
      log.end();
      assert.equal(rest(log, 0), before);
      assert.equal(rest(log, count), '');
      assert.ok(
        log.held >= before.length && log.held < before.length * 1.01 + 1,
        `${log.held} bytes are held for ${before.length}`,
      );
    }
  });

  test('says that a position is no longer kept', () => {
    const log = new EventLog(1_000);
    log.append(event('first'));
    const position = log.positionAfter(0);
    for (let index = 0; index < 100; index += 1) log.append(event('x'.repeat(50)));
    assert.equal(log.read(position), undefined);
  });

  test('tells listeners of every change until they leave, and takes nothing after the end', () => {
    const log = new EventLog(1_000);
    let told = 0;
    const leave = log.onChange(() => {
      told += 1;
    });
    log.append(event('a') + event('b'));
    assert.equal(told, 1);
    log.end();
    log.end();
    assert.equal(told, 2);
    log.append(event('c'));
    assert.equal(log.count, 2);
    leave();
    assert.equal(told, 2);
    assert.ok(log.ended);
  });
});
