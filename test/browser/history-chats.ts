import type { Page } from 'playwright-core';

/**
 * Fills the browser's database with `count` chats of `messages` messages each; the page has to be loaded anew then. One
 * message of the last but two has a recipe in it.
 */
export async function fillDatabase(page: Page, count: number, messages: number): Promise<void> {
  const words = 'river stone bridge market bread garden summer winter letter window'.split(' ');
  const word = (at: number): string => words[at % words.length] ?? '';
  const now = Date.now();
  const ids = Array.from({ length: count }, (_, index) => `chat-${index}-of-many`);
  const chats = ids.map((id, index) => ({
    id,
    title: `Chat number ${index} about ${word(index)}`,
    titleBy: 'person',
    created: now - index * 60_000,
    updated: now - index * 60_000,
    tags: [],
    pinned: false,
    leaf: `${id}-${messages - 1}`,
  }));
  const kept = ids.flatMap((id, chat) =>
    Array.from({ length: messages }, (_, index) => {
      const needle = chat === count - 3 && index === 1 ? 'Here is the Crème brûlée recipe.' : '';
      return {
        id: `${id}-${index}`,
        chat: id,
        parent: index === 0 ? null : `${id}-${index - 1}`,
        role: index % 2 === 0 ? 'user' : 'assistant',
        parts: [{ type: 'text', text: `${`${word(chat + index)} `.repeat(60)}${needle} Message ${index}.` }],
        createdAt: now - chat * 60_000 + index,
        finish: 'stop',
      };
    }),
  );
  await inDatabase(
    page,
    `const transaction = database.transaction(['chats', 'messages'], 'readwrite');
    for (const chat of ${JSON.stringify(chats)}) transaction.objectStore('chats').put(chat);
    for (const message of ${JSON.stringify(kept)}) transaction.objectStore('messages').put(message);
    transaction.oncomplete = () => resolve();`,
  );
}

/** How many messages the browser's database holds. */
export async function countMessages(page: Page): Promise<number> {
  const script = `const asked = database.transaction('messages').objectStore('messages').count();
    asked.onsuccess = () => resolve(asked.result);`;
  return Number(await inDatabase(page, script));
}

function inDatabase(page: Page, script: string): Promise<unknown> {
  return page.evaluate(`new Promise((done) => {
    const opening = indexedDB.open('sluice');
    opening.onsuccess = () => {
      const database = opening.result;
      const resolve = (value) => {
        database.close();
        done(value);
      };
      ${script}
    };
  })`);
}
