import { toFailure } from '../api/http.ts';
import { addMemory } from '../api/memory.ts';
import { toast } from '../components/toast.ts';
import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { memoryOfNext, NEXT_WITHOUT, newUserId, usesMemory } from '../state/memory.ts';
import type { Chat, Part } from '../state/model.ts';
import { reasonOf } from '../views/chat/advice.ts';

/** The person's id in the memory, made when it is first needed. */
function memoryUser(): string {
  const { user } = app.get().settings;
  if (user !== '') return user;
  const made = newUserId();
  app.dispatch({ type: 'settings/changed', change: { user: made } });
  return made;
}

/** Switches the memory on or off, for all chats. */
export function switchMemory(isOn: boolean): void {
  if (isOn) memoryUser();
  app.dispatch({ type: 'settings/changed', change: { memory: isOn } });
}

/** Switches it off, or on again, in one chat; without one, in the next. */
export function switchMemoryIn(chat: Chat | undefined): void {
  const { more } = app.get().settings;
  if (chat !== undefined) {
    app.dispatch({ type: 'chats/changed', id: chat.id, change: { memory: chat.memory === false } });
  } else {
    app.dispatch({
      type: 'settings/changed',
      change: { more: { ...more, [NEXT_WITHOUT]: more[NEXT_WITHOUT] !== true } },
    });
  }
}

/** What a chat that begins now shall have of the last decision about it, which is used up with that. */
export function takeMemoryOfNext(): Pick<Chat, 'memory'> {
  const { settings } = app.get();
  const members = memoryOfNext(settings);
  if (members.memory === undefined) return members;
  const { [NEXT_WITHOUT]: _, ...more } = settings.more;
  app.dispatch({ type: 'settings/changed', change: { more } });
  return members;
}

/** What is on its way into the memory. */
const underway = new Set<string>();

/** Remembers a text, and says whether that worked. While it is on its way, a second press is no second statement. */
export async function remember(text: string, chat?: Chat): Promise<boolean> {
  const statement = text.trim();
  if (statement === '' || underway.has(statement)) return false;
  underway.add(statement);
  try {
    await addMemory(memoryUser(), statement, chat);
    toast(t(app.get().settings.memory ? 'memory.added' : 'memory.addedUnused'));
    return true;
  } catch (thrown) {
    toast(t('memory.notAdded', { reason: reasonOf(toFailure(thrown)) }));
    return false;
  } finally {
    underway.delete(statement);
  }
}

/** Longer ones are documents rather than statements. */
const LONGEST = 2_000;

/** Remembers what the person wrote, where that is wished. */
export function rememberQuestion(chat: Chat, parts: readonly Part[]): void {
  const { settings } = app.get();
  if (!settings.remember || !usesMemory(chat, settings)) return;
  const text = parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n\n')
    .trim();
  if (text === '' || text.length > LONGEST || text.startsWith('/')) return;
  // It helps later answers, so this one need not wait, nor fail, for it.
  addMemory(settings.user, text, chat).catch(() => {});
}
