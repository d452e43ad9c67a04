import { z } from 'zod';
import { CallFields, Name, RoutingFields } from '../wire.ts';

/**
 * The wire format of Ollama's API (https://github.com/ollama/ollama/blob/main/docs/api.md). Structure is checked, values are
 * the upstream's business.
 */

const Record = z.record(z.string(), z.unknown());
const Images = z.array(z.string()).max(1_000).nullish();

const ToolCall = z.looseObject({
  id: z.string().nullish(),
  function: z.looseObject({
    name: z.string(),
    // An object by the book; text comes from clients that were written for OpenAI.
    arguments: z.union([Record, z.string()]).nullish(),
  }),
  signature: z.string().optional(),
});

const ThinkingBlock = z.looseObject({ thinking: z.string().optional(), signature: z.string().optional() });

const BucketPart = z.looseObject({ bucket_id: z.string(), name: z.string().optional() });

const Message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.string().nullish(),
  thinking: z.string().nullish(),
  thinking_blocks: z
    .array(ThinkingBlock)
    .max(1_000)
    .nullish()
    .describe('Thoughts with the signatures of their vendor, as an answer gave them'),
  images: Images,
  tool_calls: z.array(ToolCall).max(1_000).nullish(),
  tool_name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
  buckets: z.array(BucketPart).max(1_000).nullish().describe('Uploaded buckets, or media files of them'),
});
/** `images` are base64, or `data:` URIs; `tool_name` says what a tool's message is the result of. */
export type WireMessage = z.infer<typeof Message>;

const Tool = z.looseObject({
  type: z.string().optional(),
  function: z
    .looseObject({ name: z.string(), description: z.string().nullish(), parameters: Record.nullish() })
    .optional(),
});
/** In OpenAI's form. */
export type WireTool = z.infer<typeof Tool>;

const Options = z.looseObject({
  num_predict: z.int().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.number().nullish(),
  seed: z.number().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(256)]).nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
});

/** What both ways to ask have in common. */
const Asked = {
  ...RoutingFields,
  model: Name.min(1),
  stream: z.boolean().nullish().describe('Default: true'),
  format: z
    .union([z.string().max(64), Record])
    .nullish()
    .describe('`json`, or a JSON Schema'),
  options: Options.nullish(),
  think: z.union([z.boolean(), z.string().max(64)]).nullish(),
  keep_alive: z.union([z.string(), z.number()]).nullish().describe('Without effect: nothing is loaded on demand'),
  user: z.string().max(1_000).nullish(),
  memory: z.boolean().nullish().describe('Add what is remembered of `user` and has to do with the question'),
  ...CallFields,
};

/** `POST /api/chat` */
export const ChatBody = z.looseObject({
  ...Asked,
  messages: z.array(Message).nullish(),
  tools: z.array(Tool).max(1_000).nullish(),
});
export type ChatBody = z.infer<typeof ChatBody>;

/** `POST /api/generate` */
export const GenerateBody = z.looseObject({
  ...Asked,
  prompt: z.string().nullish(),
  system: z.string().nullish(),
  images: Images,
});
export type GenerateBody = z.infer<typeof GenerateBody>;

const AskedBody = z.looseObject(Asked);
/** Either body, as far as they are alike. */
export type AskedBody = z.infer<typeof AskedBody>;

/** The fields that are understood here, or have no effect on an answer; the rest is the upstream's. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(ChatBody.shape),
  ...Object.keys(GenerateBody.shape),
]);

/** `POST /api/show` and `POST /api/pull`. `name` is what older clients call `model`. */
export const NamedBody = z.looseObject({ model: Name.nullish(), name: Name.nullish() });

const Details = z.looseObject({
  family: z.string(),
  families: z.array(z.string()).nullable(),
  format: z.string(),
  parameter_size: z.string(),
  quantization_level: z.string(),
});

/** `GET /api/tags`. No file is behind a model here: its `size` is 0, and its `digest` is that of its name. */
export const TagList = z.object({
  models: z.array(
    z.looseObject({
      name: z.string(),
      model: z.string(),
      modified_at: z.string(),
      size: z.int(),
      digest: z.string(),
      details: Details,
    }),
  ),
});

/** `POST /api/show`. `capabilities` are Ollama's words: `completion`, `vision`, `tools`, `thinking`, … */
export const ShowAnswer = z.looseObject({
  details: Details,
  model_info: Record,
  capabilities: z.array(z.string()),
});

/** What every line of an answer has, and a whole answer. */
export const AskedAnswer = z.looseObject({ model: z.string(), created_at: z.string(), done: z.boolean() });

/** `POST /api/pull`, of which Ollama tells the progress until it says `success`. */
export const PullAnswer = z.object({ status: z.literal('success') });

/** Ollama says `error` alone; `code` and `param` are ours. */
export const OllamaError = z.object({ error: z.string(), code: z.string(), param: z.string().optional() });

/** Of the Ollama whose API this is like, not Sluice's own. */
export const VersionAnswer = z.object({ version: z.string() });
