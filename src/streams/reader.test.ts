import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EventLog } from './event-log.ts';
import { Reader, type Sink } from './reader.ts';

/** Takes so many bytes until it is drained by hand. */
class Slow implements Sink {
  text = '';
  state: 'open' | 'ended' | 'cut' = 'open';
  readonly #takes: number;
  #waiting = 0;
  #onDrain = (): void => {};

  constructor(takes: number) {
    this.#takes = takes;
  }

  get closed(): boolean {
    return this.state !== 'open';
  }

  write(text: string): boolean {
    this.text += Buffer.from(text, 'latin1').toString('utf8');
    this.#waiting += text.length;
    return this.#waiting < this.#takes;
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  drain(): void {
    this.#waiting = 0;
    const listener = this.#onDrain;
    this.#onDrain = () => {};
    listener();
  }

  end(): void {
    this.state = 'ended';
  }

  cut(): void {
    this.state = 'cut';
  }
}

const event = (data: string): string => `data: ${data}\n\n`;

function open(log: EventLog, after = 0, takes = Number.POSITIVE_INFINITY): Slow {
  const sink = new Slow(takes);
  new Reader(log, after, sink, () => event('too slow')).start();
  return sink;
}

describe('a reader', () => {
  test('gets what is there, then what comes, then the end', () => {
    const log = new EventLog(10_000);
    log.append(event('a') + event('b'));
    const sink = open(log, 1);
    assert.equal(sink.text, `id: 2\n${event('b')}`);
    log.append(event('c'));
    assert.equal(sink.text, `id: 2\n${event('b')}id: 3\n${event('c')}`);
    assert.equal(sink.state, 'open');
    log.end();
    assert.equal(sink.state, 'ended');
  });

  test('holds nobody up: a slow one gets the same later', () => {
    const log = new EventLog(10_000);
    const slow = open(log, 0, 1);
    const fast = open(log);
    for (let index = 0; index < 100; index += 1) log.append(event(String(index)));
    log.end();
    assert.equal(slow.text, `id: 1\n${event('0')}`);
    assert.equal(fast.state, 'ended');
    while (!slow.closed) slow.drain();
    assert.equal(slow.text, fast.text);
    assert.equal(slow.state, 'ended');
  });

  test('one that falls too far behind is told so', () => {
    const log = new EventLog(1_000);
    const slow = open(log, 0, 1);
    for (let index = 0; index < 1_000; index += 1) log.append(event(String(index)));
    slow.drain();
    assert.equal(slow.text, `id: 1\n${event('0')}${event('too slow')}`);
    assert.equal(slow.state, 'ended');
  });

  test('one that falls too far behind within an event is cut, and told nothing', () => {
    const log = new EventLog(1_000);
    const slow = open(log, 0, 1);
    log.append(event('x'.repeat(200_000)));
    for (let index = 0; index < 1_000; index += 1) log.append(event(String(index)));
    slow.drain();
    assert.equal(slow.text.length, 64 * 1024);
    assert.equal(slow.state, 'cut');
  });

  test('one that has left gets nothing more', () => {
    const log = new EventLog(1_000);
    const sink = new Slow(Number.POSITIVE_INFINITY);
    const reader = new Reader(log, 0, sink, () => '');
    reader.start();
    reader.stop();
    log.append(event('a'));
    assert.equal(sink.text, '');
  });
});
