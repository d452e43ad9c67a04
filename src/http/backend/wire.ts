import { z } from 'zod';
import { ChatFields, Name, RoutingFields, WireMessage } from '../wire.ts';

/** `POST conversation`. Unknown fields go to the provider. */
export const ConversationBody = z
  .looseObject({
    ...RoutingFields,
    messages: z.array(WireMessage).min(1).max(10_000),
    ...ChatFields,
    id: z
      .union([z.string().max(256), z.number()])
      .nullish()
      .describe('Id of the message, made by the client'),
    conversation_id: z.string().max(256).nullish().describe('Id of the chat, made by the client'),
    prompt: z.string().nullish().describe('Prompt for images and video; else the last message of the user'),
    action: z.string().max(64).nullish().describe('next, variant (regenerate) or continue (prolong the last answer)'),
    aspect_ratio: z.string().max(64).nullish(),
    debug_mode: z.boolean().nullish(),
    timeout: z.number().positive().nullish(),
    stream_timeout: z.number().positive().nullish(),
  })
  .describe('A turn of a conversation; fields that are not listed go to the provider');
export type ConversationBody = z.infer<typeof ConversationBody>;

/** Fields of the body that no provider sees. */
export const OWN_FIELDS: readonly string[] = [
  'provider',
  'ignored',
  'api_key',
  'web_search',
  'download_media',
  'conversation',
  'id',
  'conversation_id',
  'prompt',
  'action',
  'aspect_ratio',
  'debug_mode',
  'timeout',
  'stream_timeout',
  'stream',
  'user_id',
];

/** `GET create` */
export const CreateQuery = z.object({
  prompt: z.string().min(1).describe('What to answer'),
  model: Name.optional(),
  provider: Name.optional().describe('A provider, or several separated by spaces, tried in order'),
  audio_provider: Name.optional().describe('Another name for `provider`'),
  filter_markdown: z
    .string()
    .max(1_000)
    .optional()
    .describe(
      'true: the first fenced block of the answer; or a list of languages, separated by commas, that it may have',
    ),
  json: z.string().max(1_000).optional().describe('Another name for `filter_markdown`'),
  stream: z.string().optional(),
});

export const ModelEntry = z.object({
  id: z.string(),
  model: z.string(),
  name: z.string(),
  label: z.string(),
  default: z.boolean(),
  image: z.boolean(),
  vision: z.boolean(),
  audio: z.boolean(),
  video: z.boolean(),
  tools: z.boolean(),
  reasoning: z.boolean(),
  type: z.string(),
  count: z.int(),
  context_length: z.int().optional(),
  tags: z.array(z.string()),
  providers: z.array(z.string()),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

export const ProviderEntry = z.object({
  name: z.string(),
  label: z.string(),
  parent: z.string().nullable(),
  image: z.int(),
  audio: z.int(),
  video: z.int(),
  vision: z.boolean(),
  auth: z.boolean(),
  login_url: z.string().nullable(),
  login: z.boolean(),
  nodriver: z.boolean(),
  hf_space: z.boolean(),
  active_by_default: z.boolean(),
  live: z.int(),
});
export type ProviderEntry = z.infer<typeof ProviderEntry>;

export const ModelsQuery = z.object({
  format: z.enum(['list']).optional().describe('list: one flat array, one entry a model'),
});

export const ProviderModelsQuery = z.object({
  ignored: z.string().max(1_000).optional().describe('Names separated by spaces; only for the automatic provider'),
});

export const VersionAnswer = z.object({ version: z.string().nullable(), latest_version: z.string().nullable() });
