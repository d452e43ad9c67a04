import { z } from 'zod';
import { wholeNumber } from '../wire.ts';

/** `GET /search/<terms>` */
export const SearchQuery = z.object({
  min: wholeNumber(1, 1_000).optional().describe('How many of the terms must fit; default: all'),
  skip: wholeNumber(0, 1_000_000).default(0).describe('Hits to pass over, the newest first'),
  random: z.string().max(256).optional().describe('true: any hit; anything else: the same hit for the same text'),
});
