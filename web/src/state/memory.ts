import type { Chat } from './model.ts';
import type { Settings } from './settings.ts';

/**
 * Whose memory it is: 192 random bits, so that nobody can guess it. Whoever knows it can read what is remembered, which is
 * why it stays in this browser and goes to this server only.
 */
export function newUserId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  // A letter in front: the server wants at least one letter or digit.
  return `u${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')}`;
}

/** Whether the memory helps to answer in a chat: where it is on at all, and not switched off there. */
export function usesMemory(chat: Pick<Chat, 'memory'> | undefined, settings: Settings): boolean {
  return settings.memory && settings.user !== '' && chat?.memory !== false;
}

/** In `Settings.more`: that the next chat shall go without memory. It begins with its first message only. */
export const NEXT_WITHOUT = 'nextWithoutMemory';

/** The memory of the chat that is about to begin. */
export function memoryOfNext(settings: Settings): Pick<Chat, 'memory'> {
  return settings.more[NEXT_WITHOUT] === true ? { memory: false } : {};
}
