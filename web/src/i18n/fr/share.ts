import type { share as english } from '../en/share.ts';
import type { Words } from '../index.ts';

export const share: Words<typeof english> = {};
