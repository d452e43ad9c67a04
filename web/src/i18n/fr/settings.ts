import type { settings as english } from '../en/settings.ts';
import type { Words } from '../index.ts';

export const settings: Words<typeof english> = {};
