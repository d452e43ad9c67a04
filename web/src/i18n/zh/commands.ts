import type { commands as english } from '../en/commands.ts';
import type { Words } from '../index.ts';

export const commands: Words<typeof english> = {
  chat: '对话',
  input: '输入',
  answer: '回答',
  page: '页面',
};
