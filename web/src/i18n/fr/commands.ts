import type { commands as english } from '../en/commands.ts';
import type { Words } from '../index.ts';

export const commands: Words<typeof english> = {
  chat: 'Discussions',
  input: 'Écrire',
  answer: 'Réponses',
  page: 'Page',
};
