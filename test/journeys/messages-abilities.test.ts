import Anthropic from '@anthropic-ai/sdk';
import { tryAbilities } from './abilities.ts';
import { ABILITIES } from './messages-abilities.ts';

tryAbilities(
  'the official Anthropic client',
  ABILITIES,
  ({ origin }) => new Anthropic({ baseURL: origin, apiKey: 'secret', maxRetries: 0 }),
);
