import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { testLogger } from '../../../test/support/call.ts';
import { temporaryStores } from '../../../test/support/stores.ts';
import { SluiceError } from '../../core/errors.ts';
import { ownerNow } from '../keys.ts';
import { historyUpTo } from './history.ts';
import { responseId } from './ids.ts';
import { wholeOf } from './retrieve.ts';
import type { Kept } from './run.ts';
import { isKept, keep, keepOn, type ResponseDeps, stored } from './store.ts';

const DAY_MS = 86_400_000;

/** What these functions use of the dependencies. */
function world(context: TestContext, key?: string): ResponseDeps {
  const limits = { keptResponses: 10, keptResponseDays: 3 };
  const deps = {
    config: () => ({ limits, ...(key === undefined ? {} : { key }) }),
    stores: temporaryStores(context),
    runs: new Map(),
    log: testLogger(),
  };
  return deps as unknown as ResponseDeps;
}

function kept(fields: Partial<Kept> = {}): Kept {
  const head = {
    id: responseId(),
    createdAt: 1,
    model: 'm',
    provider: 'p',
    isBackground: false,
    isEncrypted: false,
    echo: { store: true },
  };
  const input = [{ item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] } }];
  return { head, input, previous: null, chunks: [{ type: 'content', content: 'Hello' }], ...fields };
}

const OVER = { ending: { completedAt: 2 }, last: [{ type: 'finish', finish: 'stop' }] } as const;

describe('stored answers', () => {
  test('are kept for as many days as the configuration says', async (context) => {
    const deps = world(context);
    const answer = kept({ over: OVER });
    await keep(deps, answer, null);
    const expires = (await deps.stores.responses.get(answer.head.id))?.expires ?? 0;
    assert.ok(Math.abs(expires - Date.now() - 3 * DAY_MS) < 60_000);
    assert.deepEqual(await stored(deps, answer.head.id), answer);
  });

  test('are kept on where somebody goes on from them, which may fail', async (context) => {
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const deps = world(context);
    const [used, other] = [kept({ over: OVER }), kept({ over: OVER })];
    for (const answer of [used, other]) await keep(deps, answer, null);
    context.mock.timers.setTime(Date.now() + 2 * DAY_MS);
    await keepOn(deps, [used.head.id, responseId()]);
    context.mock.timers.setTime(Date.now() + 2 * DAY_MS);
    assert.equal(await stored(deps, other.head.id), undefined);
    assert.deepEqual(await stored(deps, used.head.id), used);
    const prolong = () => Promise.reject(new SluiceError('storage_failed', 'The disk is full.'));
    const failing = { ...deps, stores: { ...deps.stores, responses: { prolong } } } as unknown as ResponseDeps;
    await keepOn(failing, [used.head.id]);
    assert.match(JSON.stringify((deps.log as ReturnType<typeof testLogger>).lines), /The disk is full/);
  });

  test('are shown to their owner only', async (context) => {
    const deps = world(context, 'one');
    const answer = kept({ over: OVER });
    await keep(deps, answer, ownerNow(deps.config()));
    const others = { ...world(context, 'two'), stores: deps.stores } as ResponseDeps;
    assert.equal(await stored(others, answer.head.id), undefined);
    const nobody = { ...world(context), stores: deps.stores } as ResponseDeps;
    assert.equal(await stored(nobody, answer.head.id), undefined);
    assert.deepEqual(await stored(deps, answer.head.id), answer);
  });

  test('that were never finished have failed: the server was killed while it answered', () => {
    const answer = wholeOf(kept(), false);
    assert.equal(answer['status'], 'failed');
    assert.match(String((answer['error'] as { message: string }).message), /server stopped/);
    assert.equal((answer['output'] as { status: string }[])[0]?.status, 'incomplete');
  });

  test('are not missed where storing fails: the answer goes out all the same, and the log tells', async (context) => {
    const deps = world(context);
    const broken = async (): Promise<never> => {
      throw new SluiceError('storage_failed', 'The disk is full.');
    };
    const failing = { ...deps, stores: { ...deps.stores, responses: { ...deps.stores.responses, put: broken } } };
    assert.equal(await isKept(failing as unknown as ResponseDeps, kept({ over: OVER }), null), false);
    assert.match(JSON.stringify((deps.log as ReturnType<typeof testLogger>).lines), /The disk is full/);
    const answer = wholeOf(kept({ over: { ...OVER, ending: { completedAt: 2, isStored: false } } }), false);
    assert.equal(answer['store'], false);
  });

  test('make up a conversation from its beginning, however long', async (context) => {
    const deps = world(context);
    let previous: string | null = null;
    for (let turn = 0; turn < 300; turn += 1) {
      const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: `${turn}` }] };
      const answer = kept({ over: OVER, previous, input: [{ item }] });
      await keep(deps, answer, null);
      previous = answer.head.id;
    }
    const { items } = await historyUpTo(deps, previous ?? '');
    assert.equal(items.length, 600);
    assert.deepEqual(
      items.filter((_, index) => index % 2 === 0).map(({ item }) => (item['content'] as { text: string }[])[0]?.text),
      Array.from({ length: 300 }, (_, turn) => `${turn}`),
    );
  });
});
