import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Chat, Message } from './model.ts';
import { requestBody } from './request.ts';
import { defaultSettings, type Settings } from './settings.ts';

const chat: Chat = {
  id: 'chat',
  title: '',
  titleBy: 'question',
  created: 0,
  updated: 0,
  tags: [],
  pinned: false,
};

function message(role: Message['role'], parts: Message['parts']): Message {
  return { id: role, chat: 'chat', parent: null, role, parts, createdAt: 0 };
}

const path = [message('user', [{ type: 'text', text: 'Hello' }])];
const turn = { action: 'next', id: 'answer' } as const;
const choice = { provider: 'acme', model: 'large' };

function body(change: Partial<Chat> = {}, settings: Partial<Settings> = {}, asked = choice, messages = path) {
  return requestBody({ ...chat, ...change }, messages, asked, { ...defaultSettings, ...settings }, turn);
}

describe('the request for an answer', () => {
  test('says no more than there is to say', () => {
    assert.deepEqual(body(), {
      model: 'large',
      provider: 'acme',
      messages: [{ role: 'user', content: 'Hello' }],
      conversation_id: 'chat',
      id: 'answer',
      action: 'next',
    });
  });

  test('has the key of the chosen provider only, or all where the server chooses', () => {
    const keys = { acme: 'key-1', other: 'key-2' };
    assert.equal(body({}, { keys })['api_key'], 'key-1');
    assert.equal(body({}, { keys }, { provider: 'third', model: '' })['api_key'], undefined);
    assert.deepEqual(body({}, { keys }, { provider: '', model: '' })['api_key'], keys);
  });

  test('has the system prompt in front and the parameters beside', () => {
    const made = body({ system: 'Be brief.', parameters: { temperature: 0, max_tokens: 5 } });
    assert.deepEqual(made.messages[0], { role: 'system', content: 'Be brief.' });
    assert.deepEqual([made['temperature'], made['max_tokens']], [0, 5]);
  });

  test('names files by their buckets', () => {
    const made = body({}, {}, choice, [
      message('user', [
        { type: 'file', bucketId: 'b1', name: 'a picture.png', media: 'a_picture.png', kind: 'image' },
        { type: 'file', bucketId: 'b2', name: 'notes.pdf', kind: 'document' },
        { type: 'text', text: 'What is it?' },
      ]),
      message('assistant', []),
    ]);
    assert.deepEqual(made.messages, [
      {
        role: 'user',
        content: [
          { bucket_id: 'b1', url: '/files/b1/media/a_picture.png', name: 'a_picture.png' },
          { bucket_id: 'b2', url: '/files/b2' },
          { type: 'text', text: 'What is it?' },
        ],
      },
    ]);
  });

  test('searches the web and remembers only where that is switched on', () => {
    assert.equal(body({}, { webSearch: true })['web_search'], true);
    assert.deepEqual(
      [body({}, { memory: true })['memory'], body({}, { memory: true, user: 'u' })['memory']],
      [undefined, true],
    );
  });
});
