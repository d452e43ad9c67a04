import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { app } from '../state/app.ts';
import type { ModelEntry } from '../state/catalog.ts';
import { askModels, refreshCatalog } from './catalog.ts';

interface Asked {
  answer(body: unknown, tag?: string): void;
  fail(): void;
}

/** All that was asked, in that order. */
let asked: Asked[] = [];

function entry(id: string): ModelEntry {
  const can = { image: false, vision: false, audio: false, video: false, tools: false, reasoning: false };
  return { id, label: id, default: false, ...can, type: 'chat', tags: [], providers: ['p'] };
}

/** The ids that the page offers of the one provider. */
function offered(): string | undefined {
  return app
    .get()
    .catalog.models['p']?.map(({ id }) => id)
    .join(' ');
}

/** Answers a question for the list with one model of the one provider. */
function answerList(question: number, id: string): void {
  const [providers, models] = asked.slice(question * 2, question * 2 + 2);
  providers?.answer([], id);
  models?.answer({ p: [entry(id)] }, id);
}

describe('of two questions for what there is, that are under way at once', () => {
  beforeEach(() => {
    asked = [];
    mock.method(globalThis, 'fetch', () => {
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      asked.push({
        answer: (body, tag = '') => resolve(Response.json(body, { headers: { etag: tag } })),
        fail: () => reject(new TypeError('no way')),
      });
      return promise;
    });
  });
  afterEach(() => mock.restoreAll());

  test('the answer to the later one stays, whichever comes first', async () => {
    const rounds = [refreshCatalog(), refreshCatalog()];
    answerList(1, 'new');
    await rounds[1];
    answerList(0, 'old');
    await rounds[0];
    assert.equal(offered(), 'new');
    // What the older one was like is not what the page has: told again, it is news.
    const next = refreshCatalog();
    answerList(2, 'old');
    await next;
    assert.equal(offered(), 'old');
  });

  test('that the earlier one failed takes nothing from the later one', async () => {
    const rounds = [refreshCatalog(), refreshCatalog()];
    answerList(1, 'known');
    await rounds[1];
    for (const question of asked.slice(0, 2)) question.fail();
    await rounds[0];
    // It is still known which version there is: the same once more changes nothing.
    const { catalog } = app.get();
    const next = refreshCatalog();
    answerList(2, 'known');
    await next;
    assert.equal(app.get().catalog, catalog);
  });

  test('what one provider said last stays', async () => {
    const rounds = [askModels('p', undefined), askModels('p', undefined)];
    asked[1]?.answer([entry('last')]);
    await rounds[1];
    asked[0]?.answer([entry('first')]);
    await rounds[0];
    assert.equal(offered(), 'last');
  });
});
