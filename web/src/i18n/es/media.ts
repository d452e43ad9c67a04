import type { media as english } from '../en/media.ts';
import type { Words } from '../index.ts';

export const media: Words<typeof english> = {};
