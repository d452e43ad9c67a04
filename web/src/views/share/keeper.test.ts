import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, mock, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { app } from '../../state/app.ts';
import { newId } from '../../state/model.ts';

// No other tab listens here, and a channel to them would keep the test from ending.
Object.assign(globalThis, { BroadcastChannel: undefined, addEventListener: () => {} });
const { shareChat } = await import('./keeper.ts');

/** Titles that the server was sent, each with its answer. */
let sent: string[] = [];
/** What it answers next; then that all is well. */
let refusals: Response[] = [];

function refusal(status: number, code: string): Response {
  return Response.json({ error: { message: code, code } }, { status });
}

/** Lets time go by until so many versions were sent, but not forever. */
async function sentOnes(count: number): Promise<readonly string[]> {
  for (let turn = 0; sent.length < count && turn < 100; turn += 1) {
    mock.timers.tick(10_000);
    await setImmediate();
  }
  return sent;
}

describe('a change of a shared chat', () => {
  before(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(globalThis, 'fetch', async (_: string, { body }: { body: string }) => {
      const answer = refusals.shift() ?? Response.json({});
      sent.push(`${(JSON.parse(body) as { title: string }).title}: ${answer.status}`);
      return answer;
    });
  });
  after(() => {
    mock.timers.reset();
    mock.restoreAll();
  });
  beforeEach(() => {
    sent = [];
    refusals = [];
  });

  async function sharedChat(): Promise<string> {
    const id = newId();
    const about = { titleBy: 'question', created: 1, updated: 1, tags: [], pinned: false } as const;
    app.dispatch({ type: 'chats/put', chats: [{ id, title: 'First', ...about }] });
    app.dispatch({ type: 'messages/loaded', chat: id, messages: [] });
    await shareChat(id);
    return id;
  }

  function rename(id: string): void {
    app.dispatch({ type: 'chats/changed', id, change: { title: 'Second' } });
  }

  for (const [status, code] of [
    [503, 'shutting_down'],
    [429, 'rate_limited'],
  ] as const) {
    test(`is sent again later to a server that answers ${code}`, async () => {
      const chat = await sharedChat();
      refusals = [refusal(status, code)];
      rename(chat);
      assert.deepEqual(await sentOnes(3), ['First: 200', `Second: ${status}`, 'Second: 200']);
    });
  }

  test('is not sent again where the server does not take it', async () => {
    const chat = await sharedChat();
    refusals = [refusal(413, 'too_large')];
    rename(chat);
    assert.deepEqual(await sentOnes(3), ['First: 200', 'Second: 413']);
  });
});
