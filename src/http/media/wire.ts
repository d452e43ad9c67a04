import { z } from 'zod';

/** `GET /search/<terms>` */
export const SearchQuery = z.object({
  min: z.coerce.number().int().min(1).max(1_000).optional().describe('How many of the terms must fit; default: all'),
  skip: z.coerce.number().int().min(0).max(1_000_000).default(0).describe('Hits to pass over, the newest first'),
  random: z.string().max(256).optional().describe('true: any hit; anything else: the same hit for the same text'),
});
