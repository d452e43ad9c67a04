import { z } from 'zod';
import { LONGEST_SPEECH, SPEECH_FORMATS } from '../../core/speech.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { extraOf, sendSpeech } from '../speech.ts';
import { askedOf, callOf, TaskFields } from '../task-fields.ts';
import { validate, withoutEmptyFormat } from '../validate.ts';
import { Name } from '../wire.ts';

/** `POST audio/speech`. Unknown fields go to the provider. */
export const SpeechBody = z
  .looseObject({
    input: z.string().min(1).describe(`What to read aloud, at most ${LONGEST_SPEECH} characters`),
    ...TaskFields,
    voice: z
      .union([Name, z.looseObject({ id: Name })])
      .nullish()
      .describe("One of the provider's voices"),
    response_format: z.enum(SPEECH_FORMATS).nullish(),
    speed: z.number().min(0.25).max(4).nullish(),
    language: z.string().max(64).nullish(),
    stream_format: z.enum(['audio', 'sse']).nullish().describe('sse: events with pieces of the audio as base64'),
  })
  .describe('A text to read aloud');

const KNOWN = Object.keys(SpeechBody.shape);

/** `POST audio/speech`: a text as audio, sent while the rest of it is still being spoken. */
export function audioSpeech(deps: Deps): Handler {
  return async (request, reply) => {
    const value = withoutEmptyFormat(bodyValue(request));
    const body = validate(SpeechBody, value, 'invalid_field');
    const voice = typeof body.voice === 'object' ? body.voice?.id : body.voice;
    const wish = {
      text: body.input,
      format: body.response_format ?? undefined,
      extra: extraOf(value, KNOWN),
      ...(voice ? { voice, isOwnVoice: typeof body.voice === 'object' } : {}),
      ...(body.speed ? { speed: body.speed } : {}),
      ...(body.language ? { language: body.language } : {}),
    };
    return sendSpeech(request, reply, deps, askedOf(request, body), wish, {
      field: 'input',
      cacheControl: 'no-store',
      events: body.stream_format === 'sse',
      about: callOf(body),
    });
  };
}
