import { z } from 'zod';
import { MOST_CHOICES } from '../../core/chat.ts';
import { CallFields, ChatFields, DeadlineFields, RoutingFields, WireMessage } from '../wire.ts';

/** `POST chat/completions`. Unknown fields are kept and passed on. */
export const ChatCompletionBody = z
  .looseObject({
    ...RoutingFields,
    messages: z.array(WireMessage).min(1),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    n: z.int().min(1).max(MOST_CHOICES).nullish(),
    ...ChatFields,
    conversation_id: z.string().max(256).nullish(),
    strict: CallFields.strict,
    ...DeadlineFields,
    media: z.array(z.tuple([z.string(), z.string()]).rest(z.unknown())).nullish(),
    images: z.array(z.tuple([z.string(), z.string()]).rest(z.unknown())).nullish(),
    image: z.string().nullish().describe('An image for the last message, as a data: URI'),
    image_name: z.string().nullish(),
    user: z.string().max(1_000).nullish(),
    memory: z.boolean().nullish().describe('Add what is remembered of `user` and has to do with the question'),
    extra_body: z
      .looseObject(ChatFields)
      .nullish()
      .describe(
        'Further fields for the upstream. Those about the answer (temperature, …) win over those beside it; what is read here, such as messages and model, is dropped',
      ),
  })
  .describe('A chat completion request; fields that are not listed are passed on to the upstream');
export type ChatCompletionBody = z.infer<typeof ChatCompletionBody>;

/** Fields of the body that are Sluice's own business; the rest is the upstream's. */
export const OWN_FIELDS: readonly string[] = [
  'provider',
  'ignored',
  'api_key',
  'web_search',
  'tool_calls',
  'download_media',
  'conversation',
  'conversation_id',
  'timeout',
  'stream_timeout',
  'media',
  'images',
  'image',
  'image_name',
  'extra_body',
  'raw',
  'strict',
  'models',
  'memory',
];

/** `created` is always 0: nobody knows it. */
export const ModelObject = z.looseObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
});

/** `GET models` */
export const ModelList = z.object({ object: z.literal('list'), data: z.array(ModelObject) });

/** `GET providers/<provider>`. `created` is always 0; `label` is for people. */
export const ProviderObject = z.looseObject({
  id: z.string(),
  object: z.literal('provider'),
  created: z.int(),
  url: z.string().nullable(),
  label: z.string(),
});
