import type { compare as english } from '../en/compare.ts';
import type { Words } from '../index.ts';

export const compare: Words<typeof english> = {};
