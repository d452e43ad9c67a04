import type { presets as english } from '../en/presets.ts';
import type { Words } from '../index.ts';

export const presets: Words<typeof english> = {};
