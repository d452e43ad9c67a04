import { z } from 'zod';
import { ChatFields, DeadlineFields, Name, Part, RoutingFields, WireMessage, wholeNumber } from '../wire.ts';

/** Where clients of this dialect find what providers there are. */
export const PROVIDERS_PATH = '/backend-api/v2/providers';

/** `POST conversation`. Unknown fields go to the provider. */
export const ConversationBody = z
  .looseObject({
    ...RoutingFields,
    messages: z.array(WireMessage).min(1),
    ...ChatFields,
    id: z
      .union([z.string().max(256), z.number()])
      .nullish()
      .describe('Id of the message, made by the client'),
    conversation_id: z.string().max(256).nullish().describe('Id of the chat, made by the client'),
    prompt: z
      .union([z.string(), z.array(Part)])
      .nullish()
      .describe('Prompt for images and video, as a text or in parts; else the last message of the user'),
    action: z
      .string()
      .max(64)
      .nullish()
      .describe('next, variant (another answer to the same question) or continue (more of the last answer)'),
    aspect_ratio: z.string().max(64).nullish(),
    user: z
      .string()
      .max(256)
      .nullish()
      .describe('Label for usage records; with memory: true also whose memory helps to answer'),
    memory: z.boolean().nullish().describe('Add what is remembered of the user and has to do with the question'),
    debug_mode: z
      .boolean()
      .nullish()
      .describe('Also send what the provider was asked (`request`) and how it ended (`response`)'),
    title: z
      .boolean()
      .nullish()
      .describe('Send a title with the first answer of a chat; absent: when there is a conversation_id'),
    ...DeadlineFields,
    resumable: z
      .boolean()
      .nullish()
      .describe(
        'The answer outlives its connection: the header x-sluice-stream names it, its events are numbered, and `GET streams/{id}` gives what came after one',
      ),
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
  'strict',
  'models',
  'memory',
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
  stream: z.string().optional().describe('Accepted without effect: every answer is streamed that can be'),
  web_search: z.string().max(1_000).optional().describe('true: search the web for the prompt; else what to search for'),
  cache: z
    .string()
    .max(256)
    .optional()
    .describe('A label: the answer is kept, and given again for the same parameters; false, 0 and no: not'),
  audio: z.string().max(256).optional().describe('Anything but false: ask for an answer that is spoken too'),
});
export type CreateQuery = z.infer<typeof CreateQuery>;

/** `model` and `name` are `id` once more, for older front ends; `count` is how many providers have the model. */
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
  price: z
    .object({ input: z.number(), output: z.number() })
    .optional()
    .describe('US dollars for a million tokens; absent where no price is known'),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

/** `image`, `audio` and `video` are numbers of models; `live` counts answers. */
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
  origin: z.string().describe('How it came to be on: file, environment, local or embedded'),
  key_variable: z.string().nullable().describe("The environment variable that holds the provider's key"),
  cookie_domain: z.string().nullable().describe('The domain whose cookies it needs'),
  web_search: z.boolean().describe('Whether this server can search the web for its answers'),
  speech: z.boolean().describe('Whether it reads texts aloud'),
  quota: z.boolean().describe('Whether it may tell what is left of an account'),
  voices: z
    .array(z.object({ id: z.string(), label: z.string(), language: z.string() }))
    .describe('Those it is known to have, its default first'),
});
export type ProviderEntry = z.infer<typeof ProviderEntry>;

/** `GET models` */
export const ModelsQuery = z.object({
  format: z.enum(['list']).optional().describe('list: one flat array, one entry a model'),
});

/** `GET models/<provider>` */
export const ProviderModelsQuery = z.object({
  ignored: z.string().max(1_000).optional().describe('Names separated by spaces; only for the automatic provider'),
});

/** Both are the version that runs: no network is asked for a later one. */
export const VersionAnswer = z.object({ version: z.string().nullable(), latest_version: z.string().nullable() });

/** `POST chat/<share_id>`: any object; of its members only the time stamp is looked at. */
export const ChatBody = z.looseObject({
  updated: z.int().nonnegative().nullish().describe('Milliseconds; a version older than the stored one is refused'),
});

/** `POST memory/<user_id>`. Front ends send a whole conversation, so unknown fields are passed over. */
export const MemoryBody = z.looseObject({
  items: z
    .array(
      z.looseObject({
        role: z.string().min(1).max(64),
        content: z
          .union([
            z.string().max(100_000),
            z.array(z.looseObject({ text: z.string().max(100_000).optional() })),
            z.null(),
          ])
          .describe('Text, or parts of which the texts count; what says nothing is passed over'),
        metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
      }),
    )
    .max(1_000),
  id: z.string().max(256).nullish().describe('Id of the conversation'),
  title: z.string().max(1_000).nullish(),
});

/** `GET memory/<user_id>` */
export const MemoryQuery = z.object({
  search: z.string().max(1_000).optional().describe('Terms; the best matches come first'),
  filters: z
    .string()
    .max(4_000)
    .optional()
    .describe('A JSON object: fields of an item, or of its metadata, that must be equal'),
  metadata: z.string().max(4_000).optional().describe('A JSON object: fields of the metadata that must be equal'),
  page: wholeNumber(1, 1_000_000).default(1),
  page_size: wholeNumber(1, 1_000).default(100),
});

/** `count` is that of all pages; `next` and `previous` are numbers of pages; `score` is there for a search, higher is better. */
export const MemoryPage = z.object({
  count: z.int(),
  page: z.int(),
  page_size: z.int(),
  next: z.int().nullable(),
  previous: z.int().nullable(),
  results: z.array(
    z.looseObject({
      id: z.string(),
      memory: z.string(),
      user_id: z.string(),
      role: z.string(),
      conversation_id: z.string().nullable(),
      metadata: z.record(z.string(), z.unknown()),
      created_at: z.string(),
      updated_at: z.string(),
      score: z.number().optional(),
    }),
  ),
});

/** `GET stats`. A number of days that is out of range is brought into it. */
export const StatsQuery = z.object({
  days: z.coerce
    .number()
    .int()
    .default(30)
    .transform((days) => Math.min(365, Math.max(1, days)))
    .describe('How many days, 1 to 365'),
  user: z.string().max(256).optional(),
});

/** `POST usage` and `POST log`: any object of at most 64 KiB. */
export const AnyRecord = z.record(z.string(), z.unknown());

/** `POST files/<id>`. `files` are names of texts; sizes of media are in pixels. */
export const UploadAnswer = z.object({
  bucket_id: z.string(),
  files: z.array(z.string()),
  media: z.array(
    z.object({ name: z.string(), width: z.int().optional(), height: z.int().optional(), text: z.string().optional() }),
  ),
  rejected: z.array(z.object({ name: z.string(), reason: z.string() })),
});

/** `GET files/<id>` */
export const FilesQuery = z.object({
  delete_files: z.string().optional().describe('true or 1: the bucket is deleted once it was read'),
  refine_chunks_with_spacy: z.string().optional().describe('Accepted for older front ends, without effect'),
});

/** An event of a stream by its number; 0: before the first. */
const EventNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be the number of an event, for example 17')
  .transform(Number);

/** `GET streams/<id>` */
export const StreamQuery = z.object({
  after: EventNumber.default(0).describe(
    'The number of the last event that is there already; the header Last-Event-ID wins',
  ),
});
/** What an `EventSource` sends of itself when it connects again (HTML, "Server-sent events"). */
export const StreamHeaders = z.object({ 'Last-Event-ID': EventNumber });

/** `DELETE streams/<id>` */
export const StopAnswer = z.object({
  id: z.string(),
  stopped: z.boolean().describe('false: the answer had come to its own end before'),
});
