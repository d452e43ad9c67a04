import { z } from 'zod';
import { MOST_CHOICES } from '../../core/chat.ts';
import { TaskFields } from '../task-fields.ts';
import { ChatFields } from '../wire.ts';

const Tokens = z.array(z.int().nonnegative()).min(1);
const { temperature, top_p, max_tokens, stop, seed, presence_penalty, frequency_penalty } = ChatFields;

/** `POST completions`, OpenAI's first API. Fields that are not listed go to the upstream. */
export const CompletionBody = z
  .looseObject({
    ...TaskFields,
    prompt: z
      .union([
        z.string(),
        z.array(z.string()).min(1).max(MOST_CHOICES),
        Tokens,
        z.array(Tokens).min(1).max(MOST_CHOICES),
      ])
      .nullish()
      .describe('A text, texts that are answered each by itself, or tokens'),
    suffix: z.string().nullish(),
    echo: z.boolean().nullish(),
    logprobs: z.int().nonnegative().nullish(),
    n: z.int().min(1).max(MOST_CHOICES).nullish(),
    best_of: z.int().min(1).max(MOST_CHOICES).nullish(),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    temperature,
    top_p,
    max_tokens,
    stop,
    seed,
    presence_penalty,
    frequency_penalty,
    user: z.string().max(1_000).nullish(),
  })
  .describe('A text to go on with');
export type CompletionBody = z.infer<typeof CompletionBody>;

/** A whole answer, or a chunk of one. */
export const Completion = z.looseObject({
  id: z.string(),
  object: z.string(),
  created: z.int(),
  model: z.string(),
  choices: z.array(z.looseObject({ index: z.int(), text: z.string() })),
});
