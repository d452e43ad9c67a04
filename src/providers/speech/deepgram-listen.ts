import { z } from 'zod';
import type { TimedText, Transcript } from '../../core/transcription.ts';
import { dropPromptAndTemperature, type FieldNames, type ListenSpec, toFurtherOptions } from './listen-sdk.ts';

/** Not `callback`: it would send the transcript to an address that the client chooses. */
const FIELDS: FieldNames = {
  diarize: ['diarize', 'boolean'],
  filler_words: ['fillerWords', 'boolean'],
  punctuate: ['punctuate', 'boolean'],
  paragraphs: ['paragraphs', 'boolean'],
  smart_format: ['smartFormat', 'boolean'],
  keyterm: ['keyterm', 'text'],
  redact: ['redact', 'texts'],
  replace: ['replace', 'text'],
  search: ['search', 'text'],
};

/** Deepgram's Nova, which hears. */
export const deepgramListen: ListenSpec = {
  origin: 'https://api.deepgram.com',
  models: ['nova-3', 'nova-3-medical', 'nova-2'],

  async open(connection) {
    const { createDeepgram } = await import('@ai-sdk/deepgram');
    return createDeepgram(connection).transcription;
  },

  toOptions(request, drop) {
    dropPromptAndTemperature(request, drop);
    const { language } = request;
    return {
      // With punctuation and, by it, sentences with their times.
      smartFormat: true,
      ...(language === undefined ? { detectLanguage: true } : { language }),
      ...toFurtherOptions(request, FIELDS, drop),
    };
  },

  read(answer) {
    const [alternative] = Answer.safeParse(answer).data?.results.channels[0]?.alternatives ?? [];
    if (alternative === undefined) return {};
    const words = alternative.words.map(
      ({ word, punctuated_word: text = word, start, end }): TimedText => ({ text, start, end }),
    );
    const segments = (alternative.paragraphs?.paragraphs ?? []).flatMap(({ sentences }) => sentences);
    return { words, ...(segments.length === 0 ? {} : { segments }) } satisfies Partial<Transcript>;
  },
};

const Timed = z.object({ text: z.string(), start: z.number(), end: z.number() });
const Word = z.object({ word: z.string(), punctuated_word: z.string().optional(), start: z.number(), end: z.number() });
const Answer = z.object({
  results: z.object({
    channels: z.array(
      z.object({
        alternatives: z.array(
          z.object({
            words: z.array(Word).catch([]),
            paragraphs: z
              .object({ paragraphs: z.array(z.object({ sentences: z.array(Timed) })) })
              .optional()
              .catch(undefined),
          }),
        ),
      }),
    ),
  }),
});
