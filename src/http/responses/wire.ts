import { z } from 'zod';
import { CallFields, Effort, Name, RoutingFields, typeBeside, wholeNumber } from '../wire.ts';

/** Answers, items and events are objects whose members we pass on. */
export type Json = Record<string, unknown>;

const Part = z.looseObject({ type: z.string().optional() });
const Content = z.union([z.string(), z.array(Part).max(10_000)]);
const Text = z.looseObject({ text: z.string() });

const FunctionTool = z.looseObject({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});
const CustomTool = z.looseObject({
  type: z.literal('custom'),
  name: z.string(),
  description: z.string().nullish(),
  format: z.looseObject({ type: z.string() }).nullish(),
});
const NamespaceTool = z.looseObject({
  type: z.literal('namespace'),
  name: z.string(),
  tools: z.array(z.looseObject({ type: z.string() })).max(1_000),
});
/** Tools that the client runs itself. */
export const CLIENT_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace']);
const OtherTool = z.looseObject({ type: typeBeside(CLIENT_TOOLS) });
const Tool = z.union([z.discriminatedUnion('type', [FunctionTool, CustomTool, NamespaceTool]), OtherTool]);
/** One that the client runs (`CLIENT_TOOLS`), or one that a server has to run. */
export type WireTool = z.infer<typeof Tool>;

const Message = z.looseObject({
  type: z.literal('message').optional(),
  id: z.string().max(512).nullish(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: Content,
});
const Reasoning = z.looseObject({
  type: z.literal('reasoning'),
  id: z.string().max(512).nullish(),
  summary: z.array(Text).max(10_000).nullish(),
  content: z.array(Text).max(10_000).nullish(),
  encrypted_content: z.string().nullish(),
});
const FunctionCall = z.looseObject({
  type: z.literal('function_call'),
  id: z.string().max(512).nullish(),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
});
const FunctionCallOutput = z.looseObject({
  type: z.literal('function_call_output'),
  id: z.string().max(512).nullish(),
  call_id: z.string(),
  output: Content,
});
const CustomToolCall = z.looseObject({
  type: z.literal('custom_tool_call'),
  id: z.string().max(512).nullish(),
  call_id: z.string(),
  name: z.string(),
  input: z.string(),
});
const CustomToolCallOutput = FunctionCallOutput.extend({ type: z.literal('custom_tool_call_output') });
const AdditionalTools = z.looseObject({
  type: z.literal('additional_tools'),
  id: z.string().max(512).nullish(),
  tools: z.array(Tool).max(1_000),
});
const Compaction = z.looseObject({
  type: z.literal('compaction'),
  id: z.string().max(512).nullish(),
  encrypted_content: z.string(),
});
const ItemReference = z.looseObject({ type: z.literal('item_reference'), id: z.string().max(512) });

const KNOWN_ITEMS: ReadonlySet<unknown> = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'additional_tools',
  'compaction',
  'item_reference',
]);
const OtherItem = z.looseObject({ type: typeBeside(KNOWN_ITEMS) });

/** What the model gets, or once gave. Unknown items are kept. */
export const Item = z.union([
  z.discriminatedUnion('type', [
    Reasoning,
    FunctionCall,
    FunctionCallOutput,
    CustomToolCall,
    CustomToolCallOutput,
    AdditionalTools,
    Compaction,
    ItemReference,
  ]),
  Message,
  OtherItem,
]);
export type Item = z.infer<typeof Item>;

const ToolChoice = z.union([z.string(), z.looseObject({ type: z.string(), name: z.string().optional() })]);
/** A word (`auto`, `none`, `required`), or the tool that has to be called. */
export type WireToolChoice = z.infer<typeof ToolChoice>;

const TextFormat = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  description: z.string().nullish(),
  schema: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});

/** OpenAI's limits (https://platform.openai.com/docs/api-reference/responses/create). */
export const Metadata = z.record(z.string().max(64, 'a name has at most 64 characters'), z.string().max(512));

const Include = z.array(z.string().max(256)).max(64);
const { conversation: _, ...routing } = RoutingFields;

/** `POST responses`. Unknown fields are kept and passed on to upstreams of the same format. */
export const ResponseBody = z
  .looseObject({
    ...routing,
    input: z
      .union([z.string(), z.array(Item)])
      .nullish()
      .describe(
        'A text, or items: messages, calls of functions and their outputs, reasoning, compactions, references to items',
      ),
    instructions: z.string().nullish(),
    previous_response_id: z.string().max(512).nullish().describe('A stored answer that this one goes on from'),
    conversation: z
      .union([z.string().max(512), z.looseObject({ id: z.string().max(512) })])
      .nullish()
      .describe('A conversation that this answer is part of, or its id'),
    store: z
      .boolean()
      .nullish()
      .describe('Keep the answer, so that it can be retrieved and gone on from; default true'),
    stream: z.boolean().nullish(),
    background: z
      .boolean()
      .nullish()
      .describe('Answer at once, and work on without the client; retrieve the rest later'),
    include: Include.nullish(),
    tools: z.array(Tool).max(1_000).nullish(),
    tool_choice: ToolChoice.nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    text: z.looseObject({ format: TextFormat.nullish(), verbosity: z.string().max(64).nullish() }).nullish(),
    reasoning: z.looseObject({ effort: Effort.nullish(), summary: z.string().max(64).nullish() }).nullish(),
    max_output_tokens: z.int().nonnegative().nullish(),
    max_tool_calls: z.int().nonnegative().nullish(),
    temperature: z.number().nullish(),
    top_p: z.number().nullish(),
    top_logprobs: z.int().nonnegative().nullish(),
    truncation: z.string().max(64).nullish(),
    metadata: Metadata.nullish(),
    service_tier: z.string().max(64).nullish(),
    prompt_cache_key: z.string().max(1_000).nullish(),
    safety_identifier: z.string().max(1_000).nullish(),
    user: z.string().max(1_000).nullish(),
    memory: z.boolean().nullish().describe('Add what is remembered of `user` and has to do with the question'),
    ...CallFields,
  })
  .describe('A request of the Responses API; fields that are not listed are passed on to upstreams that speak it too');
export type ResponseBody = z.infer<typeof ResponseBody>;

/** The id of the conversation that an answer is to be part of. */
export function conversationIdOf({ conversation }: Pick<ResponseBody, 'conversation'>): string | undefined {
  return (typeof conversation === 'string' ? conversation : conversation?.id) ?? undefined;
}

/** The whole answer. */
export const ResponseObject = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  status: z.enum(['completed', 'failed', 'in_progress', 'cancelled', 'queued', 'incomplete']),
  model: Name,
  output: z.array(z.looseObject({ type: z.string() })),
});

/** A parameter of a query that may come several times. */
export const OneOrMany = z.union([z.string().max(256), Include]).optional();
const Flag = z.enum(['true', 'false', '1', '0']).optional();
/** `GET responses/<id>`. Lists come as `include=…` several times, or in the way of the official clients as `include[]=…`. */
export const RetrieveQuery = z.object({
  include: OneOrMany,
  'include[]': OneOrMany,
  stream: Flag.describe('true: the events of the answer, from the beginning or behind `starting_after`'),
  starting_after: wholeNumber(0, 999_999_999)
    .optional()
    .describe('The sequence number of the last event that is there already'),
  include_obfuscation: Flag,
});

/** `GET responses/<id>/input_items`, and `GET conversations/<id>/items` */
export const ItemsQuery = z.object({
  after: z.string().max(512).optional().describe('The id of an item: what follows it is listed'),
  limit: wholeNumber(1, 100).optional().describe('1 to 100; default 20'),
  order: z.enum(['asc', 'desc']).optional().describe('By time; default desc'),
  include: OneOrMany,
  'include[]': OneOrMany,
});

/** A page; the next one begins `after` its `last_id`. */
export const ItemList = z.object({
  object: z.literal('list'),
  data: z.array(z.looseObject({ type: z.string() })),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

/** `POST responses/input_tokens` */
export const InputTokens = z.object({
  object: z.literal('response.input_tokens'),
  input_tokens: z.int(),
  estimated: z.literal(true).optional().describe('Counted here, since the upstream does not count'),
});

/** `POST responses/compact`: what a request for an answer may say, but for how that is delivered and kept. */
export const CompactBody = ResponseBody.omit({ stream: true, background: true, store: true }).describe(
  'The conversation to compact; fields that are not listed are passed on to upstreams that compact by themselves',
);

/** A conversation in short: what its user said, and an item that stands for the rest. */
export const CompactedResponse = z.looseObject({
  id: z.string(),
  object: z.literal('response.compaction'),
  created_at: z.int(),
  output: z
    .array(z.looseObject({ type: z.string() }))
    .describe('To be sent as the beginning of the next `input`; its last item, a `compaction`, is opaque'),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
});

/** `DELETE responses/<id>` */
export const Deleted = z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) });

/** What of an answer is to be shown beyond the usual. */
export function included(query: { readonly include?: unknown; readonly 'include[]'?: unknown }): ReadonlySet<unknown> {
  return new Set([query.include, query['include[]']].flat());
}

/** By `include`: what vendors attached to thoughts, for clients that keep the conversation themselves. */
export const ENCRYPTED = 'reasoning.encrypted_content';
