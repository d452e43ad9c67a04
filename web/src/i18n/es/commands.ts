import type { Words } from '../dictionary.ts';
import type { commands as english } from '../en/commands.ts';

export const commands: Words<typeof english> = {
  chat: 'Chats',
  input: 'Escribir',
  answer: 'Respuestas',
  page: 'Página',
};
