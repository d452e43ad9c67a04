import type { history as english } from '../en/history.ts';
import type { Words } from '../index.ts';

export const history: Words<typeof english> = {};
