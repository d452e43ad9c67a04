import type { dashboard as english } from '../en/dashboard.ts';
import type { Words } from '../index.ts';

export const dashboard: Words<typeof english> = {};
