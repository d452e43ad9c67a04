import { GoogleGenAI } from '@google/genai';
import { tryAbilities } from './abilities.ts';
import { ABILITIES } from './gemini-abilities.ts';

tryAbilities(
  'the official Gemini client',
  ABILITIES,
  ({ origin }) => new GoogleGenAI({ apiKey: 'secret', httpOptions: { baseUrl: origin } }),
  'limits: { attempts: 1 }',
);
