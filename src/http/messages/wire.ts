import { z } from 'zod';
import { CallFields, Effort, Finite, RoutingFields, typeBeside } from '../wire.ts';

/**
 * The wire format of Anthropic's Messages API (https://platform.claude.com/docs/en/api/messages/create). Structure is checked,
 * values are the upstream's business: unknown fields, blocks and tools are kept.
 */

const CacheControl = z.looseObject({ type: z.string() }).nullish();
const Source = z.looseObject({
  type: z.string(),
  media_type: z.string().optional(),
  data: z.string().optional(),
  url: z.string().optional(),
});

const TextBlock = z.looseObject({ type: z.literal('text'), text: z.string(), cache_control: CacheControl });
const ImageBlock = z.looseObject({ type: z.literal('image'), source: Source, cache_control: CacheControl });
const DocumentBlock = z.looseObject({
  type: z.literal('document'),
  source: Source,
  title: z.string().nullish(),
  cache_control: CacheControl,
});
const SearchResultBlock = z.looseObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(TextBlock).max(10_000),
  cache_control: CacheControl,
});
const ThinkingBlock = z.looseObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.string().nullish(),
});
const RedactedThinkingBlock = z.looseObject({
  type: z.literal('redacted_thinking'),
  // Bytes by their places, as Strands' library for JavaScript hands the text back.
  data: z.union([z.string(), z.record(z.string(), z.number())]),
});
const ToolUseBlock = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
  cache_control: CacheControl,
});

const CustomTool = z.looseObject({
  type: z.literal('custom').nullish(),
  name: z.string(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()),
  strict: z.boolean().nullish(),
  cache_control: CacheControl,
});
/** A tool of the vendor's own, named by its version: `web_search_20250305`. */
const VendorTool = z.looseObject({
  type: typeBeside(new Set(['custom'])),
  name: z.string().optional(),
});
const Tool = z.union([CustomTool, VendorTool]);
/** One that the client runs, or one of the vendor's own. */
export type WireTool = z.infer<typeof Tool>;

/** A tool that a message adds, by its name or whole. What it takes away, and of whom else, stays as it is. */
const ToolAdditionBlock = z.looseObject({
  type: z.literal('tool_addition'),
  tool: z.looseObject({ type: z.string(), definition: Tool.optional() }),
  cache_control: CacheControl,
});

const KNOWN = [
  'text',
  'image',
  'document',
  'search_result',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
  'tool_addition',
];
const KNOWN_BLOCKS: ReadonlySet<unknown> = new Set(KNOWN);
const OtherBlock = z.looseObject({ type: typeBeside(KNOWN_BLOCKS) });
/** Of an uploaded bucket, as everywhere here. */
const BucketBlock = z.looseObject({ bucket_id: z.string(), name: z.string().optional() });

const ResultBlock = z.union([
  z.discriminatedUnion('type', [TextBlock, ImageBlock, DocumentBlock, SearchResultBlock]),
  OtherBlock,
]);
const ToolResultBlock = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(ResultBlock).max(10_000)]).nullish(),
  is_error: z.boolean().nullish(),
  cache_control: CacheControl,
});

const Block = z.union([
  z.discriminatedUnion('type', [
    TextBlock,
    ImageBlock,
    DocumentBlock,
    SearchResultBlock,
    ThinkingBlock,
    RedactedThinkingBlock,
    ToolUseBlock,
    ToolResultBlock,
    ToolAdditionBlock,
  ]),
  OtherBlock,
  BucketBlock,
]);
/** A part of what a message says; blocks of unknown types are kept. */
export type WireBlock = z.infer<typeof Block>;

const Message = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(Block).max(10_000)]),
});
/** A `system` message stays where it stands, unlike the body's own `system`. */
export type WireMessage = z.infer<typeof Message>;

const Schema = z.looseObject({ type: z.string(), schema: z.record(z.string(), z.unknown()).optional() }).nullish();

/** What counts as prompt, which is all that `count_tokens` takes. */
const PROMPT_FIELDS = {
  ...RoutingFields,
  messages: z.array(Message).min(1),
  system: z.union([z.string(), z.array(TextBlock).max(1_000)]).nullish(),
  tools: z.array(Tool).max(1_000).nullish(),
  tool_choice: z
    .looseObject({ type: z.string(), name: z.string().optional(), disable_parallel_tool_use: z.boolean().nullish() })
    .nullish(),
  thinking: z.looseObject({ type: z.string().optional(), budget_tokens: z.number().nullish() }).nullish(),
  output_config: z.looseObject({ effort: Effort.nullish(), format: Schema }).nullish(),
  output_format: Schema.describe('The older name of `output_config.format`'),
};

/** `POST messages` */
export const MessagesBody = z
  .looseObject({
    ...PROMPT_FIELDS,
    max_tokens: z.int().nonnegative().nullish(),
    stream: z.boolean().nullish(),
    temperature: Finite,
    top_p: Finite,
    top_k: Finite,
    stop_sequences: z.array(z.string()).max(256).nullish(),
    thread: z
      .looseObject({ type: z.string() })
      .nullish()
      .describe('A conversation that the server holds; only Anthropic does, at others send all messages without it'),
    metadata: z.looseObject({ user_id: z.string().max(1_000).nullish() }).nullish(),
    ...CallFields,
    memory: z
      .boolean()
      .nullish()
      .describe('Add what is remembered of `metadata.user_id` and has to do with the question'),
  })
  .describe('A request of the Messages API; fields that are not listed are passed on where the upstream is Anthropic');
export type MessagesBody = z.infer<typeof MessagesBody>;

/** Anthropic's form of an error (https://platform.claude.com/docs/en/api/errors), with what every error of ours says besides. */
export const MessagesError = z.object({
  type: z.literal('error'),
  error: z.object({
    type: z.string(),
    message: z.string(),
    code: z.string(),
    param: z.string().nullable(),
    details: z.looseObject({}).optional(),
  }),
  request_id: z.string().describe('As in the header request-id'),
  model: z.string().optional(),
  provider: z.string().optional(),
});

/** `POST messages/count_tokens` */
export const CountBody = z.looseObject(PROMPT_FIELDS).describe('The prompt of a request of the Messages API');

/** Fields of the body that are Sluice's own business; no upstream sees them. */
export const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(RoutingFields),
  'strict',
  'timeout',
  'memory',
  'stream',
]);

/** `POST messages`, not streamed. `provider` is ours. */
export const MessageObject = z.looseObject({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  provider: z.string(),
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().nullable(),
  stop_sequence: z.string().nullable(),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
});

/** `POST messages/count_tokens` */
export const CountObject = z.object({
  input_tokens: z.int(),
  estimated: z.literal(true).optional().describe('Counted here, since the upstream does not count'),
});
