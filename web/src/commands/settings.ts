import { currentChat } from '../actions/chats.ts';
import { remember, switchMemoryIn } from '../actions/memory.ts';
import { app } from '../state/app.ts';
import { addressOf, goTo } from '../state/route.ts';
import type { Command } from './command.ts';

/** Commands of settings, memory and media. */
export const settingsCommands: readonly Command[] = [
  {
    id: 'remember',
    title: 'memory.rememberCommand',
    group: 'input',
    slash: 'remember',
    argument: 'memory.rememberArgument',
    run: (argument) => {
      if (argument.trim() === '') goTo(addressOf('memory'));
      else void remember(argument, currentChat());
    },
  },
  {
    id: 'memory',
    title: 'memory.toggle',
    group: 'input',
    slash: 'memory',
    when: () => app.get().settings.memory,
    run: () => switchMemoryIn(currentChat()),
  },
  {
    id: 'settings',
    title: 'settings.title',
    group: 'page',
    keys: 'Mod+,',
    slash: 'settings',
    run: () => goTo(addressOf('settings')),
  },
  { id: 'media', title: 'media.title', group: 'page', slash: 'media', run: () => goTo(addressOf('media')) },
];
