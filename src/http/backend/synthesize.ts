import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import { SPEECH_FORMATS } from '../../core/speech.ts';
import { providerNotFound } from '../../routing/select.ts';
import type { Deps, Handler } from '../deps.ts';
import { clientKeys } from '../keys.ts';
import { extraOf, sendSpeech, sendSpeechHead } from '../speech.ts';
import { validateQuery } from '../validate.ts';
import { Name } from '../wire.ts';
import { PROVIDERS_PATH } from './wire.ts';

/** The same text in the same voice sounds the same next week. */
const CACHE_CONTROL = 'private, max-age=604800';

/** `GET synthesize/<provider>`. Whatever else the query has goes to the provider. */
export const SynthesizeQuery = z
  .object({
    text: z.string().min(1).describe('What to read aloud, at most 10,000 characters'),
    voice: Name.optional().describe("One of the provider's voices"),
    format: z.enum(SPEECH_FORMATS).optional().describe('Absent: what the Accept header prefers'),
    response_format: z.enum(SPEECH_FORMATS).optional().describe('The same, as `/v1/audio/speech` calls it'),
    speed: z
      .string()
      .regex(/^\d(\.\d{1,4})?$/, 'must be a number')
      .transform(Number)
      .pipe(z.number().min(0.25).max(4))
      .optional()
      .describe('From 0.25 to 4; 1 is the usual pace'),
    language: z
      .string()
      .regex(/^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$/, 'must be a language such as en')
      .optional()
      .describe('For example `en`'),
    model: Name.optional(),
  })
  .catchall(z.string());

/** `GET synthesize/<provider>`: a text as audio, sent while the rest of it is still being spoken. */
export function synthesize(deps: Deps): Handler {
  return async (request, reply) => {
    const { provider: name } = request.params as { provider: string };
    const provider = deps.router.catalog.provider(name);
    if (provider === undefined) throw providerNotFound(name, PROVIDERS_PATH);
    if (provider.speech === undefined) {
      throw new SluiceError('not_supported', `${provider.label} does not read texts aloud.`, { param: 'provider' });
    }
    const query = validateQuery(SynthesizeQuery, request.query, 'invalid_request');
    const { text, response_format: otherFormat, format = otherFormat, ...rest } = query;
    const { voice, speed, language, model, ...others } = rest;
    const wish = {
      text,
      format,
      extra: extraOf(others, []),
      ...(voice === undefined ? {} : { voice }),
      ...(speed === undefined ? {} : { speed }),
      ...(language === undefined ? {} : { language }),
    };
    const delivery = { field: 'text', cacheControl: CACHE_CONTROL };
    if (request.method === 'HEAD') return sendSpeechHead(request, reply, provider, wish, delivery);
    const asked = {
      wish: { model: model ?? '', providers: [provider.id], ignored: [] },
      keys: clientKeys(request, undefined),
    };
    return sendSpeech(request, reply, deps, asked, wish, delivery);
  };
}
