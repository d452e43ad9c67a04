import type { memory as english } from '../en/memory.ts';
import type { Words } from '../index.ts';

export const memory: Words<typeof english> = {};
