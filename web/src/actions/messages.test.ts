import assert from 'node:assert/strict';
import { after, before, describe, mock, test } from 'node:test';
import { app } from '../state/app.ts';
import { type Message, newId } from '../state/model.ts';
import { pathTo } from '../state/tree.ts';
import { deleteMessage } from './messages.ts';

/** Puts a chat with these messages; the last one is shown. Returns its id. */
function chatOf(rows: readonly (readonly [id: string, parent: string | null])[]): string {
  const chat = newId();
  const leaf = rows.at(-1)?.[0] ?? '';
  const about = { title: '', titleBy: 'question', created: 0, updated: 0, tags: [], pinned: false } as const;
  app.dispatch({ type: 'chats/put', chats: [{ id: chat, leaf, ...about }] });
  const messages = rows.map(
    ([id, parent], createdAt): Message => ({ id, chat, parent, role: 'user', parts: [], createdAt }),
  );
  app.dispatch({ type: 'messages/put', messages });
  return chat;
}

function remove(chat: string, id: string): void {
  const message = app.get().messages[chat]?.[id];
  assert.ok(message);
  deleteMessage(message);
}

function shown(chat: string): string {
  const path = pathTo(app.get().messages[chat] ?? {}, app.get().chats.byId[chat]?.leaf);
  return path.map(({ id }) => id).join(' ');
}

describe('a message that is deleted', () => {
  // The offer to undo it ends with a timer.
  before(() => mock.timers.enable({ apis: ['setTimeout'] }));
  after(() => mock.timers.reset());

  test('is replaced by the version before it', () => {
    const chat = chatOf([
      ['q', null],
      ['a1', 'q'],
      ['a2', 'q'],
      ['a3', 'q'],
    ]);
    remove(chat, 'a3');
    assert.equal(shown(chat), 'q a2');
  });

  test('is replaced by the version after it where it was the first, down to the end of that', () => {
    const chat = chatOf([
      ['q', null],
      ['a1', 'q'],
      ['a2', 'q'],
      ['q2', 'a2'],
      ['b', 'q2'],
    ]);
    app.dispatch({ type: 'chats/changed', id: chat, change: { leaf: 'a1' } });
    remove(chat, 'a1');
    assert.equal(shown(chat), 'q a2 q2 b');
  });

  test('leads to another version of the question when its answer is gone too', () => {
    const chat = chatOf([
      ['q', null],
      ['a', 'q'],
      ['q1', 'a'],
      ['a1', 'q1'],
      ['q2', 'a'],
      ['a2', 'q2'],
    ]);
    remove(chat, 'q2');
    assert.equal(shown(chat), 'q a a2');
    remove(chat, 'a2');
    assert.equal(shown(chat), 'q a q1 a1');
  });

  test('leaves the one before it where there is no other version', () => {
    const chat = chatOf([
      ['q', null],
      ['a', 'q'],
    ]);
    remove(chat, 'a');
    assert.equal(shown(chat), 'q');
  });

  test('does not lend the answer of one side of a comparison to the other', () => {
    const chat = chatOf([
      ['q', null],
      ['left', 'q'],
      ['right', 'q'],
    ]);
    const [left, right] = ['left', 'right'].map((leaf) => ({ provider: 'p', model: leaf, leaf }));
    assert.ok(left && right);
    app.dispatch({ type: 'chats/changed', id: chat, change: { sides: [left, right] } });
    remove(chat, 'right');
    assert.deepEqual(
      app.get().chats.byId[chat]?.sides?.map(({ leaf }) => leaf),
      ['left', 'q'],
    );
  });
});
