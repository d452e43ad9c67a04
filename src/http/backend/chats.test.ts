import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import type { ChatRecord } from '../../core/stores.ts';
import type { Deps } from '../deps.ts';
import { getChat } from './chats.ts';

test('a chat that is stored as a value, as it was before texts were kept, is given back too', async (context) => {
  const body = { updated: 5, title: 'Tides' };
  const record: ChatRecord = { id: 'one', owner: null, updated: 5, body };
  const app = Fastify({ forceCloseConnections: true });
  context.after(() => app.close());
  app.get('/chat/:id', getChat({ stores: { chats: { get: async () => record } } } as unknown as Deps));
  const response = await fetch(`${await app.listen()}/chat/one`);
  assert.equal(response.headers.get('etag'), '"5"');
  assert.deepEqual(await response.json(), body);
});
