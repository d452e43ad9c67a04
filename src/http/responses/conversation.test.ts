import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { testLogger } from '../../../test/support/call.ts';
import { temporaryStores } from '../../../test/support/stores.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Deps } from '../deps.ts';
import { ownerNow } from '../keys.ts';
import { addItems, beginConversation, enterConversation, joinConversation, ownConversation } from './conversation.ts';
import { responseId } from './ids.ts';
import type { KeptItem } from './items.ts';
import type { Kept } from './run.ts';

/** What these functions use of the dependencies. */
function world(context: TestContext, key?: string, messages = 10): Deps {
  const limits = { keptResponses: 10, messages };
  const deps = {
    config: () => ({ limits, ...(key === undefined ? {} : { key }) }),
    stores: temporaryStores(context),
    log: testLogger(),
  };
  return deps as unknown as Deps;
}

const said = (text: string): KeptItem => ({
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

function answered(conversation: string, text: string): Kept {
  const id = responseId();
  const head = { id, createdAt: 1, model: 'm', provider: 'p', isBackground: false, isEncrypted: false, echo: {} };
  const over = { ending: { completedAt: 2 }, last: [{ type: 'finish', finish: 'stop' }] } as const;
  const chunks = [{ type: 'content', content: text }] as const;
  return { head, input: [said('Hi')], previous: null, conversation: { id: conversation, below: 0 }, chunks, over };
}

const isMissing = (error: unknown): boolean => error instanceof SluiceError && error.code === 'not_found';

describe('a conversation', () => {
  test('is seen by its owner only', async (context) => {
    const deps = world(context, 'one');
    const { id } = await beginConversation(deps, { owner: ownerNow(deps.config()), metadata: {} }, []);
    assert.equal((await ownConversation(deps, id)).id, id);
    for (const key of ['two', undefined]) {
      const others = { ...world(context, key), stores: deps.stores };
      await assert.rejects(ownConversation(others, id), isMissing);
      await assert.rejects(enterConversation({ conversation: id }, others), isMissing);
    }
    const open = world(context);
    const nobodys = await beginConversation(open, { owner: ownerNow(open.config()), metadata: {} }, []);
    const later = { ...world(context, 'one'), stores: open.stores };
    assert.equal((await ownConversation(later, nobodys.id)).owner, null);
  });

  test('that cannot take an answer makes it fail', async (context) => {
    const deps = world(context);
    const { id } = await beginConversation(deps, { owner: null, metadata: {} }, []);
    const append = async (): Promise<never> => {
      throw new SluiceError('storage_failed', 'The disk is full.');
    };
    const { conversations } = deps.stores;
    const find = conversations.find.bind(conversations);
    const full = { ...deps, stores: { ...deps.stores, conversations: { find, append } } } as unknown as Deps;
    assert.equal((await joinConversation(answered(id, 'Hello'), full))?.code, 'storage_failed');
    assert.equal(await joinConversation(answered(id, 'Hello'), deps), undefined);
    assert.equal((await enterConversation({ conversation: id }, deps))?.items.length, 2);
  });

  test('that was deleted while an answer was made takes nothing, and the answer goes out', async (context) => {
    const deps = world(context);
    const { id } = await beginConversation(deps, { owner: null, metadata: {} }, [said('x')]);
    await deps.stores.conversations.delete(id);
    assert.equal(await joinConversation(answered(id, 'Hello'), deps), undefined);
    assert.equal(await addItems(deps, id, [said('y')]), undefined);
    await assert.rejects(ownConversation(deps, id), isMissing);
  });

  test('keeps the answers that end at the same time apart', async (context) => {
    const deps = world(context, undefined, 1_000);
    const { id } = await beginConversation(deps, { owner: null, metadata: {} }, []);
    await Promise.all(Array.from({ length: 50 }, (_, n) => joinConversation(answered(id, `answer ${n}`), deps)));
    const items = (await enterConversation({ conversation: id }, deps))?.items ?? [];
    assert.deepEqual(
      items.map(({ item }) => item['role']),
      Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? 'user' : 'assistant')),
    );
  });

  test('has a limit of items that one answer may be made of', async (context) => {
    const deps = world(context);
    const { id } = await beginConversation(deps, { owner: null, metadata: {} }, []);
    for (let n = 0; n < 10; n += 1) await addItems(deps, id, [said(`${n}`)]);
    assert.equal((await enterConversation({ conversation: { id } }, deps))?.items.length, 10);
    await addItems(deps, id, [said('one more')]);
    await assert.rejects(
      enterConversation({ conversation: id }, deps),
      (error) => error instanceof SluiceError && error.code === 'invalid_request' && /more than 10/.test(error.message),
    );
  });
});
