import { z } from 'zod';

/**
 * What both dialects share of the wire format of OpenAI's chat completions, and what further formats have in common with it.
 * Structure is checked, values are the upstream's business: unknown fields and unknown kinds of parts are kept.
 */

/** No control characters, no invisible ones that change how text reads (bidi overrides), no halves of a letter. */
const NAME = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u;
/** As much of it as regular expressions of every language can say: readers of the API's description stumble over `\p`. */
const DESCRIBED_NAME = '^[^\\x00-\\x1f\\x7f-\\x9f]*$';

/** Names of models and providers travel into paths, headers and logs. */
export const Name = z
  .string()
  .max(256)
  .regex(NAME, 'must not contain control characters')
  .meta({ description: 'A name of at most 256 printable characters', examples: ['embedded'], pattern: DESCRIBED_NAME });

/** Keys become headers. */
const Key = z
  .string()
  .max(4_096)
  .regex(/^[ -~]*$/, 'must have printable ASCII characters only');

const TextPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const ImagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.union([z.string(), z.looseObject({ url: z.string(), detail: z.string().optional() })]),
});
const AudioPart = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({ data: z.string(), format: z.string().optional() }),
});
const VideoPart = z.looseObject({
  type: z.literal('video_url'),
  video_url: z.union([z.string(), z.looseObject({ url: z.string() })]),
});
const FilePart = z.looseObject({
  type: z.literal('file'),
  file: z.looseObject({
    file_data: z.string().optional(),
    filename: z.string().optional(),
    file_id: z.string().optional(),
  }),
});
const BucketPart = z.looseObject({ bucket_id: z.string(), name: z.string().nullish() });
const NamedTextPart = z.looseObject({ name: z.string(), text: z.string() });
const KnownPart = z.discriminatedUnion('type', [TextPart, ImagePart, AudioPart, VideoPart, FilePart]);
const KNOWN_PARTS: ReadonlySet<unknown> = new Set(['text', 'image_url', 'input_audio', 'video_url', 'file']);
const OtherPart = z.looseObject({ type: typeBeside(KNOWN_PARTS) });

/** OpenAI's parts, an uploaded bucket, or a text that was made of a file; parts of other types are kept. */
export const Part = z.union([KnownPart, OtherPart, BucketPart, NamedTextPart]);
/** A part of a message as a client sends it, checked; what its type does not list is still there. */
export type WirePart = z.infer<typeof Part>;

const Content = z.union([z.string(), z.array(Part).max(10_000)]);

const WireToolCall = z.looseObject({
  id: z.string().optional(),
  function: z.looseObject({ name: z.string(), arguments: z.string().optional() }).optional(),
});

/** Thoughts come as `reasoning` or `reasoning_content`: upstreams have both names. */
export const WireMessage = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: Content.nullish(),
  name: z.string().nullish(),
  reasoning: z.unknown().optional(),
  reasoning_content: z.unknown().optional(),
  tool_calls: z.array(WireToolCall).max(1_000).nullish(),
  tool_call_id: z.string().nullish(),
});
export type WireMessage = z.infer<typeof WireMessage>;

const WireFunction = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});
const WireTool = z.looseObject({ type: z.string().optional(), function: WireFunction.optional() });
/** A function; a tool of another type is the upstream's own. */
export type WireTool = z.infer<typeof WireTool>;

const ToolChoice = z.union([
  z.string(),
  z.looseObject({ type: z.string(), function: z.looseObject({ name: z.string() }).optional() }),
]);

const ResponseFormat = z.looseObject({
  type: z.string(),
  json_schema: z
    .looseObject({
      name: z.string(),
      description: z.string().nullish(),
      schema: z.record(z.string(), z.unknown()).nullish(),
      strict: z.boolean().nullish(),
    })
    .optional(),
});

/** How hard a model shall think. Which words there are is the upstream's business, but an empty one would only seem to say something. */
export const Effort = z
  .string()
  .max(64)
  .regex(/\S/, 'must be a word such as none, low, medium or high; leave it out for the usual one');

/** zod takes neither NaN nor infinities. Null counts as absent. */
export const Finite = z.number().nullish();
/** From 0 on. Null counts as absent. */
export const Count = z.int().nonnegative().nullish();

/** Fields of a chat request that both dialects know and hand to providers. */
export const ChatFields = {
  temperature: Finite,
  top_p: Finite,
  top_k: Finite,
  max_tokens: Count,
  max_completion_tokens: Count,
  stop: z.union([z.string(), z.array(z.string()).max(256)]).nullish(),
  seed: z.number().nullish(),
  presence_penalty: Finite,
  frequency_penalty: Finite,
  reasoning_effort: Effort.nullish(),
  tools: z.array(WireTool).max(1_000).nullish(),
  tool_choice: ToolChoice.nullish(),
  functions: z.array(WireFunction).max(1_000).nullish().describe('The older form of `tools`'),
  function_call: z
    .union([z.string(), z.looseObject({ name: z.string() })])
    .nullish()
    .describe('The older form of `tool_choice`'),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: ResponseFormat.nullish(),
};

/** A call of a tool that runs here, before the model is asked. Its arguments are checked where the tool is known. */
const ServerToolCall = z.looseObject({
  function: z
    .looseObject({
      name: z.string().max(256),
      arguments: z.union([z.string().max(20_000), z.record(z.string(), z.unknown())]).nullish(),
    })
    .optional(),
});
export type ServerToolCall = z.infer<typeof ServerToolCall>;

const Seconds = z.number().positive().nullish();

/** Fields about how long a chat may take; no upstream sees them. */
export const DeadlineFields = {
  timeout: Seconds.describe('Seconds for the whole answer, below the server’s own limit'),
  stream_timeout: Seconds.describe('Seconds between two pieces of the answer, below the server’s own limit'),
};

/** Fields that every request may have, whatever it asks for; no upstream sees them. */
export const CallFields = {
  strict: z.boolean().nullish().describe('Refuse the request when a field of it has no place at the provider'),
  timeout: DeadlineFields.timeout,
};

/** Fields about where and how Sluice answers; no upstream sees them. */
export const RoutingFields = {
  model: Name.nullish().describe(
    "A model, an alias, a provider's name, `provider/model` or `provider:model`; absent: the default",
  ),
  models: z.array(Name).max(20).nullish().describe('Further models, tried in order when the first one cannot answer'),
  provider: Name.nullish().describe('A provider, or several separated by spaces, tried in order'),
  ignored: z.array(Name).max(1_000).nullish().describe('Providers that the automatic choice must not use'),
  api_key: z
    .union([Key, z.record(z.string(), Key.nullable())])
    .nullish()
    .describe("Key for the provider, for this request only; or an object from a provider's name to its key"),
  web_search: z.union([z.boolean(), z.string().max(2_000)]).nullish(),
  tool_calls: z
    .array(ServerToolCall)
    .max(64)
    .nullish()
    .describe(
      'Tools to run here before the model is asked. `search_tool` searches the web: query, max_results, max_words, ' +
        'backend, add_text, timeout (seconds), all optional',
    ),
  download_media: z.boolean().nullish(),
  conversation: z.record(z.string(), z.unknown()).nullish().describe('State of an earlier answer, as received'),
};

/**
 * Never passed on, wherever they come from: the destination of a call is the operator's business (S-5), and an upstream that
 * is a gateway itself would follow these fields. `extra_body` could hold them all.
 */
export const DROPPED_FIELDS: readonly string[] = [
  'base_url',
  'baseURL',
  'baseUrl',
  'api_base',
  'apiBase',
  'api_url',
  'api_type',
  'azure_endpoint',
  'proxy',
  'proxies',
  'http_proxy',
  'https_proxy',
  'headers',
  'extra_headers',
  'default_headers',
  'extra_query',
  'default_query',
  'extra_body',
];

type ChatFieldsSchema = z.ZodObject<typeof ChatFields>;
/** The fields of `ChatFields`, as they come out of the check. */
export type WireChatFields = z.infer<ChatFieldsSchema>;

/** The `type` of whatever is of no known one. It aborts: else a union would take this complaint for the most fitting one. */
export function typeBeside(known: ReadonlySet<unknown>) {
  return z.string().refine((type) => !known.has(type), { error: 'is incomplete', abort: true });
}

/** A whole number in a query or a form, where everything is text. */
export function wholeNumber(least: number, most: number) {
  return (
    z
      .string()
      // As close to its bounds as a pattern can come, for whoever reads the API's description.
      .regex(least > 0 ? /^0{0,8}[1-9]\d{0,8}$/ : /^\d{1,9}$/, `must be a whole number from ${least} to ${most}`)
      .transform(Number)
      .pipe(z.int().min(least).max(most))
  );
}
