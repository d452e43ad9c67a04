import { Ollama } from 'ollama';
import { tryAbilities } from './abilities.ts';
import { ABILITIES } from './ollama-abilities.ts';

tryAbilities(
  'the official Ollama client',
  ABILITIES,
  ({ origin }) => new Ollama({ host: origin }),
  'limits: { attempts: 1 }',
);
