import type { voices as english } from '../en/voices.ts';
import type { Words } from '../index.ts';

export const voices: Words<typeof english> = {};
