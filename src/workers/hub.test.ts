import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { testLogger } from '../../test/support/call.ts';
import { Channel, type Message } from './channel.ts';
import type { Member } from './fleet.ts';
import { Hub, type HubDeps } from './hub.ts';

test('a worker that hangs keeps nobody waiting for ever who has news for it', { timeout: 60_000 }, async (context) => {
  // The time that is waited keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  context.after(() => clearInterval(alive));
  const asked: Message[] = [];
  const channel = new Channel((messages) => asked.push(...messages));
  const hub = new Hub({ limits: assert.fail, log: testLogger(), patienceMs: 50 } as unknown as HubDeps);
  const member = { channel, state: 'serving' } as Member;
  hub.join(member);
  assert.equal(await hub.inform(member, { type: 'cookies' }), undefined);
  assert.deepEqual(await hub.tell({ type: 'cookies' }), []);
  assert.equal(asked.length, 2);
});

test('one that starts hears of files that come and go: it may listen already, and has no other way to know', async () => {
  const hub = new Hub({ limits: assert.fail, log: testLogger() } as unknown as HubDeps);
  const heard: unknown[] = [];
  const ends: Channel[] = [0, 1].map((index) => {
    return new Channel((sent) => setImmediate(() => ends[1 - index]?.receive(structuredClone(sent))));
  });
  const [channel, worker] = ends;
  assert.ok(channel !== undefined && worker !== undefined);
  worker.on('news', async (news) => {
    heard.push(news.type);
    return undefined;
  });
  const member = { channel, state: 'starting' } as Member;
  hub.join(member);
  await hub.tell({ type: 'media', change: { name: 'a.png', modified: 1 } });
  // What it hears of once it serves.
  await hub.tell({ type: 'cookies' });
  await hub.tell({ type: 'bucket deleted', id: 'a' });
  await hub.inform(member, { type: 'local', found: [] });
  assert.deepEqual(heard, ['media', 'bucket deleted', 'local']);
});

test('it is told when a worker cannot take news over, but not of one that has ended', async () => {
  const log = testLogger();
  const hub = new Hub({ limits: assert.fail, log } as unknown as HubDeps);
  const ends: Channel[] = [0, 1].map((index) => {
    return new Channel((sent) => setImmediate(() => ends[1 - index]?.receive(structuredClone(sent))));
  });
  const [channel, worker] = ends;
  assert.ok(channel !== undefined && worker !== undefined);
  worker.on('news', async () => {
    throw new Error('The disk is gone.');
  });
  const member = { channel, pid: 7, state: 'serving' } as Member;
  hub.join(member);
  const fields = { worker: 7, news: 'cookies', error: 'The disk is gone.' };
  assert.deepEqual(await hub.tell({ type: 'cookies' }), []);
  assert.deepEqual(
    log.lines.map((line) => [line.level, line.fields]),
    [['warn', fields]],
  );
  const ended = hub.tell({ type: 'cookies' });
  channel.close();
  assert.deepEqual(await ended, []);
  assert.equal(log.lines.length, 1);
});

/** Two workers that serve. */
function two() {
  const limits = () => ({ streams: 4, streamsPerClient: 4 });
  const hub = new Hub({ limits, log: testLogger() } as unknown as HubDeps);
  const [one, other] = ['one', 'other'].map((tag) => {
    const ends: Channel[] = [0, 1].map((index) => {
      return new Channel((sent) => setImmediate(() => ends[1 - index]?.receive(structuredClone(sent))));
    });
    const [channel, worker] = ends;
    assert.ok(channel !== undefined && worker !== undefined);
    const member = { channel, tag, state: 'serving' } as Member;
    hub.join(member);
    return { member, worker };
  });
  assert.ok(one !== undefined && other !== undefined);
  return { hub, one, other };
}

test('a worker that has news goes on once all others know them', async () => {
  const { one, other } = two();
  const heard: string[] = [];
  one.worker.on('news', async () => {
    heard.push('its own');
    return undefined;
  });
  other.worker.on('news', async ({ type }) => {
    await turn();
    heard.push(type);
    return undefined;
  });
  await one.worker.ask('spread', { type: 'cookies' });
  assert.deepEqual(heard, ['cookies']);
});

test('what all have answered is added up', async () => {
  const { one, other } = two();
  one.worker.on('answers', () => new Map([['acme', 2]]));
  other.worker.on('answers', () => new Map(Object.entries({ acme: 3, ollama: 1 })));
  assert.deepEqual(Object.fromEntries(await one.worker.ask('answers.all', undefined)), { acme: 5, ollama: 1 });
});

test('an upload is found as long as one of several into its bucket goes on', async () => {
  const { one, other } = two();
  for (const { worker } of [one, other]) worker.tell('upload', { id: 'bucket', isRunning: true });
  other.worker.tell('upload', { id: 'bucket', isRunning: false });
  assert.equal(await other.worker.ask('uploading', 'bucket'), 'one');
  one.worker.tell('upload', { id: 'bucket', isRunning: false });
  assert.equal(await one.worker.ask('uploading', 'bucket'), undefined);
  assert.equal(await other.worker.ask('uploading', 'bucket'), undefined);
});

test('new limits count once what was lent has been called back', async () => {
  const { hub, one } = two();
  await one.worker.ask('places', { client: undefined, want: 2 });
  const asked: unknown[] = [];
  one.worker.on('unused', async (body) => {
    await turn();
    asked.push(body);
    return 2;
  });
  await hub.recall();
  assert.deepEqual(asked, [{ client: undefined, all: true }]);
});

test('nothing stays taken of a worker that has ended', async () => {
  const { hub, one, other } = two();
  one.worker.on('unused', () => 0);
  assert.equal(await one.worker.ask('places', { client: undefined, want: 4 }), 4);
  one.worker.tell('upload', { id: 'bucket', isRunning: true });
  assert.equal(await one.worker.ask('uploading', 'bucket'), undefined, 'it needs nobody else');
  assert.equal(await other.worker.ask('uploading', 'bucket'), 'one');
  assert.equal(await other.worker.ask('places', { client: undefined, want: 4 }), 0);
  one.member.channel.close();
  hub.leave(one.member);
  assert.equal(await other.worker.ask('uploading', 'bucket'), undefined);
  assert.equal(await other.worker.ask('places', { client: undefined, want: 4 }), 4);
});
