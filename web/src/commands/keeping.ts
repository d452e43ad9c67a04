import { currentChat } from '../actions/chats.ts';
import { app } from '../state/app.ts';
import { type Message, textOf } from '../state/model.ts';
import { addressOf, goTo } from '../state/route.ts';
import { toggleReading, withPlayer } from '../views/aloud/read.ts';
import { aloud } from '../views/aloud/state.ts';
import { openOrganise } from '../views/history/actions.ts';
import { exportAs } from '../views/history/chat-menu.ts';
import type { Command } from './command.ts';
import { lastAnswer } from './last-answer.ts';

/** Commands around what is kept: finding, sorting, sharing, taking along, reading aloud. */
export const keepingCommands: readonly Command[] = [
  {
    id: 'history',
    title: 'history.search',
    group: 'chat',
    keys: 'Mod+K',
    slash: 'search',
    run: () => {
      goTo(addressOf('history'));
      document.querySelector<HTMLElement>('#history-search')?.focus();
    },
  },
  {
    id: 'organise',
    title: 'history.organise',
    group: 'chat',
    slash: 'folder',
    when: () => currentChat() !== undefined,
    run: () => {
      const chat = currentChat();
      if (chat !== undefined) openOrganise([chat.id]);
    },
  },
  {
    id: 'share',
    title: 'share.share',
    group: 'chat',
    slash: 'share',
    when: () => currentChat() !== undefined,
    run: () => {
      const chat = currentChat();
      if (chat !== undefined) app.dispatch({ type: 'overlay/opened', name: 'share', about: chat.id });
    },
  },
  {
    id: 'export',
    title: 'transfer.exportMarkdown',
    group: 'chat',
    slash: 'export',
    when: () => currentChat() !== undefined,
    run: () => {
      const chat = currentChat();
      if (chat !== undefined) exportAs([chat.id], 'markdown');
    },
  },
  {
    id: 'import',
    title: 'transfer.import',
    group: 'chat',
    slash: 'import',
    run: () => app.dispatch({ type: 'overlay/opened', name: 'import' }),
  },
  {
    id: 'aloud',
    title: 'aloud.read',
    group: 'answer',
    slash: 'read',
    when: () => readable() !== undefined,
    run: () => {
      const message = readable();
      if (message !== undefined) toggleReading(message);
    },
  },
  {
    id: 'silence',
    title: 'aloud.stop',
    group: 'answer',
    keys: 'Mod+Shift+S',
    when: () => aloud.get() !== undefined,
    run: () => withPlayer(({ stopReading }) => stopReading()),
  },
];

/** The last answer, if it says something. */
function readable(): Message | undefined {
  const answer = lastAnswer();
  return answer !== undefined && textOf(answer) !== '' ? answer : undefined;
}
