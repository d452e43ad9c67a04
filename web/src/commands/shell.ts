import { regenerate } from '../actions/answer.ts';
import { choiceOf, currentChat, deleteChats, newChat, shownChat } from '../actions/chats.ts';
import { stopAll } from '../actions/stop.ts';
import { toggleSidebar } from '../components/sidebar.ts';
import { app } from '../state/app.ts';
import { canSearch } from '../state/catalog.ts';
import { runningIn } from '../state/streams.ts';
import type { Command } from './command.ts';
import { lastAnswer } from './last-answer.ts';

/** The commands of the shell and of the conversation. */
export const shellCommands: readonly Command[] = [
  { id: 'new', title: 'shell.newChat', group: 'chat', keys: 'Mod+Shift+O', slash: 'new', run: newChat },
  {
    id: 'delete',
    title: 'shell.deleteChat',
    group: 'chat',
    slash: 'delete',
    when: () => currentChat() !== undefined,
    run: () => {
      const chat = currentChat();
      if (chat !== undefined) void deleteChats([chat.id]);
    },
  },
  {
    id: 'favourite',
    title: 'models.toggleFavourite',
    group: 'chat',
    slash: 'favourite',
    when: () => choiceOf(currentChat()).model !== '',
    run: () => {
      const { provider, model } = choiceOf(currentChat());
      app.dispatch({ type: 'settings/favourite', name: `${provider}/${model}` });
    },
  },
  {
    id: 'focus',
    title: 'composer.focus',
    group: 'input',
    keys: 'Shift+Escape',
    run: () => document.querySelector<HTMLElement>('#prompt')?.focus(),
  },
  {
    id: 'search-web',
    title: 'composer.webSearch',
    group: 'input',
    slash: 'web',
    when: () => canSearch(app.get().catalog),
    run: () => app.dispatch({ type: 'settings/changed', change: { webSearch: !app.get().settings.webSearch } }),
  },
  {
    id: 'stop',
    title: 'chat.stop',
    group: 'answer',
    keys: 'Escape',
    when: () => isRunning() && document.querySelector('dialog[open], :popover-open') === null,
    run: () => stopAll(shownChat()?.id),
  },
  {
    id: 'again',
    title: 'chat.regenerate',
    group: 'answer',
    slash: 'again',
    when: () => !isRunning() && lastAnswer() !== undefined,
    run: () => {
      const message = lastAnswer();
      if (message !== undefined) void regenerate(message);
    },
  },
  {
    id: 'sidebar',
    title: 'shell.toggleSidebar',
    group: 'page',
    keys: 'Mod+B',
    run: toggleSidebar,
  },
  {
    id: 'help',
    title: 'shell.shortcuts',
    group: 'page',
    keys: 'Mod+/',
    slash: 'help',
    run: () => app.dispatch({ type: 'overlay/opened', name: 'shortcuts' }),
  },
];

function isRunning(): boolean {
  const chat = shownChat();
  return chat !== undefined && runningIn(app.get().streams, chat.id) !== undefined;
}
