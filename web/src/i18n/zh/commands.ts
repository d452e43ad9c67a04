import type { Words } from '../dictionary.ts';
import type { commands as english } from '../en/commands.ts';

export const commands: Words<typeof english> = {
  chat: '对话',
  input: '输入',
  answer: '回答',
  page: '页面',
};
