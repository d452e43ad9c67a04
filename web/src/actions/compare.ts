import { app } from '../state/app.ts';
import type { Choice } from '../state/catalog.ts';
import { COMPARED, firstSides, isTogether, withSide } from '../state/compare.ts';
import type { Chat, Message, Part, Side } from '../state/model.ts';
import { addressOf, goTo } from '../state/route.ts';
import { addQuestion, answerBy, isAloneIn, titleFrom } from './answer.ts';
import { createChat, openChat } from './chats.ts';
import { rememberQuestion, takeMemoryOfNext } from './memory.ts';
import { takeSetupOfNext } from './setup.ts';
import { stopAll } from './stop.ts';

/** The models that are compared in a chat, or will be in the next one. */
export function sidesOf(chat: Chat | undefined): readonly Side[] {
  const { catalog, settings } = app.get();
  return chat?.sides ?? firstSides(catalog, settings);
}

/** Asks all sides the same, each with its own past. */
export function askSides(chat: Chat | undefined, parts: readonly Part[]): void {
  const sides = sidesOf(chat);
  const there = chat ?? createChat({ title: titleFrom(parts), sides, ...takeMemoryOfNext(), ...takeSetupOfNext() });
  const isOne = isTogether(sides);
  const shared = isOne ? addQuestion(there.id, sides[0]?.leaf ?? null, parts) : undefined;
  const next = sides.map((side): Side => {
    const question = shared ?? addQuestion(there.id, side.leaf ?? null, parts);
    return { ...side, leaf: answerBy(there.id, question.id, side, 'next').id };
  });
  changeSides(there, next, { updated: Date.now() });
  if (chat === undefined) goTo(addressOf('compare', there.id), { replace: true });
  rememberQuestion(there, parts);
}

/** Has the last question of one side answered once more. */
export async function askSideAgain(at: number, message: Message): Promise<void> {
  if (message.parent === null || !(await isAloneIn(message.chat))) return;
  const chat = app.get().chats.byId[message.chat];
  const sides = chat?.sides ?? [];
  const side = sides[at];
  if (chat === undefined || side === undefined) return;
  const { id } = answerBy(chat.id, message.parent, side, 'variant');
  changeSides(chat, withSide(sides, at, { leaf: id }), {});
}

/** Another model on one side; it goes on with what was said there. */
export function chooseSide(chat: Chat | undefined, at: number, { provider, model }: Choice): void {
  const sides = withSide(sidesOf(chat), at, { provider, model });
  const { more } = app.get().settings;
  const compared = sides.map((side) => ({ provider: side.provider, model: side.model }));
  app.dispatch({ type: 'settings/changed', change: { more: { ...more, [COMPARED]: compared } } });
  if (chat !== undefined) changeSides(chat, sides, {});
}

function changeSides(chat: Chat, sides: readonly Side[], change: Partial<Chat>): void {
  const leaf = sides[0]?.leaf;
  const { provider = '', model = '' } = sides[0] ?? {};
  const shown = leaf === undefined ? {} : { leaf, provider, model };
  app.dispatch({ type: 'chats/changed', id: chat.id, change: { ...change, ...shown, sides } });
}

/** Goes on with one of them alone. The others stay, as branches, and end. */
export function goOnWith(chat: Chat, side: Side): void {
  const now = app.get().chats.byId[chat.id];
  if (now === undefined || side.leaf === undefined) return;
  stopAll(chat.id, side.leaf);
  const { sides: _, ...rest } = now;
  const { leaf, provider, model } = side;
  app.dispatch({ type: 'chats/put', chats: [{ ...rest, leaf, provider, model }] });
  openChat(chat.id);
}

/** Compares an answer with one that another model gives to the same question. */
export async function compareAnswer(message: Message): Promise<void> {
  if (message.parent === null || !(await isAloneIn(message.chat))) return;
  const chat = app.get().chats.byId[message.chat];
  if (chat === undefined) return;
  const own: Side = { provider: message.provider ?? '', model: message.model ?? '', leaf: message.id };
  const isOther = (side: Choice): boolean => side.model !== own.model || side.provider !== own.provider;
  const other = firstSides(app.get().catalog, app.get().settings).find(isOther) ?? own;
  const { id } = answerBy(chat.id, message.parent, other, 'variant');
  const sides = [own, { provider: other.provider, model: other.model, leaf: id }];
  app.dispatch({ type: 'chats/changed', id: chat.id, change: { sides } });
  goTo(addressOf('compare', chat.id));
}
