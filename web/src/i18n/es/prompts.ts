import type { prompts as english } from '../en/prompts.ts';
import type { Words } from '../index.ts';

export const prompts: Words<typeof english> = {};
