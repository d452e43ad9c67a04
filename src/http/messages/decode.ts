import type {
  ChatRequest,
  Message,
  Part,
  ResponseFormat,
  Sampling,
  Tool,
  ToolCall,
  ToolChoice,
  VendorData,
} from '../../core/chat.ts';
import { isObject, present, wordsOf } from '../../core/objects.ts';
import { openVendor } from '../../core/vendor.ts';
import { toWebSearch } from '../to-chat.ts';
import { DROPPED_FIELDS } from '../wire.ts';
import { type Note, own, redactedData, textPart, toParts } from './blocks.ts';
import { toolsAtLast, toTool } from './tools.ts';
import { type MessagesBody, OWN_FIELDS, type WireBlock, type WireMessage } from './wire.ts';

type Json = Record<string, unknown>;

/** A request of the Messages API in our words, and what of it only Anthropic understands. */
export interface Decoded {
  readonly request: ChatRequest;
  /** Fields of the body for an upstream of Anthropic's, as sent. */
  readonly fields: Readonly<Json>;
  /** The names of fields that any other upstream has no place for. */
  readonly foreign: readonly string[];
  /** The tools for any other upstream, which knows no changes of them along the way. */
  readonly offered: readonly Tool[];
  /** The field that asks for thoughts, which not every model has. */
  readonly effortField: string;
}

/** Fields that have a place of their own in a request. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'tools',
  'tool_choice',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'thinking',
  'output_config',
  'output_format',
]);
/** Those of them that are made anew for Anthropic too. */
const REWRITTEN: ReadonlySet<string> = new Set(['messages', 'system', 'tools', 'model']);

/** @param wish where the request goes; @param beta the names of beta features that the client wants */
export function decodeMessages(
  value: Readonly<Json>,
  body: MessagesBody,
  wish: Pick<ChatRequest, 'model' | 'providers' | 'ignored'>,
  beta: readonly string[],
): Decoded {
  const foreign = new Set<string>();
  const note: Note = (name) => foreign.add(name);
  const passed = Object.entries(value).filter(([name]) => !OWN_FIELDS.has(name) && !DROPPED_FIELDS.includes(name));
  for (const [name, each] of passed) if (!UNDERSTOOD.has(name) && each !== null) note(name);
  if (beta.length > 0) note('anthropic-beta');
  if (!showsThoughts(body.thinking)) note('thinking.display');
  const messages = [...toSystem(body.system, note), ...body.messages.flatMap((each) => toMessages(each, note))];
  const tools = (body.tools ?? []).map((tool) => toTool(tool, note));
  const offered = toolsAtLast(tools, body.messages, note);
  const toolChoice = toToolChoice(body.tool_choice);
  const responseFormat = toResponseFormat(body, note);
  const fields = passed.filter(([name]) => !REWRITTEN.has(name));
  return {
    request: {
      ...wish,
      messages,
      sampling: toSampling(body),
      ...(tools.length === 0 ? {} : { tools }),
      ...(toolChoice === undefined ? {} : { toolChoice }),
      ...(body.tool_choice?.disable_parallel_tool_use === true ? { parallelToolCalls: false } : {}),
      ...(responseFormat === undefined ? {} : { responseFormat }),
      ...(body.conversation == null ? {} : { conversation: body.conversation }),
      ...toWebSearch(body.web_search),
      downloadMedia: body.download_media === true,
      format: 'anthropic',
      extra: {},
    },
    fields: Object.fromEntries([
      ...fields,
      ...(beta.length === 0 ? [] : [['anthropic-beta', beta.join(',')] as const]),
    ]),
    foreign: [...foreign],
    offered,
    effortField: body.thinking == null ? 'output_config.effort' : 'thinking',
  };
}

function toSystem(system: MessagesBody['system'], note: Note): Message[] {
  if (system === null || system === undefined || system.length === 0) return [];
  const content = typeof system === 'string' ? [textPart(system)] : system.flatMap((block) => toParts(block, note));
  return [{ role: 'system', content }];
}

/** One message of the wire, whose results of tools are messages of their own here. */
function toMessages({ role, content }: WireMessage, note: Note): Message[] {
  if (typeof content === 'string') return [{ role, content: [textPart(content)] }];
  switch (role) {
    case 'assistant':
      return [toAssistant(content, note)];
    case 'system':
      return [{ role, content: content.flatMap((block) => toParts(block, note)) }];
    case 'user':
      return toUser(content, note);
  }
}

function toUser(blocks: readonly WireBlock[], note: Note): Message[] {
  const messages: Message[] = [];
  let said: Part[] = [];
  const close = (): void => {
    if (said.length > 0) messages.push({ role: 'user', content: said });
    said = [];
  };
  for (const block of blocks) {
    if (!isToolResult(block)) {
      said.push(...toParts(block, note));
      continue;
    }
    close();
    messages.push(toToolMessage(block, note));
  }
  close();
  return messages;
}

type Result = Json & { tool_use_id: string; content?: string | readonly WireBlock[] | null };

function isToolResult(block: WireBlock): block is WireBlock & Result {
  return 'type' in block && block.type === 'tool_result';
}

function toToolMessage(block: Result, note: Note): Message {
  const { type: _, tool_use_id: toolCallId, content, is_error: isError, cache_control: mark, ...further } = block;
  const blocks =
    typeof content === 'string' ? [textPart(content)] : (content ?? []).flatMap((each) => toParts(each, note));
  return {
    role: 'tool',
    toolCallId,
    content: blocks,
    ...(typeof isError === 'boolean' ? { isError } : {}),
    ...own(mark, further, note),
  };
}

/** Calls know how many parts stand before them, where they do not stand behind all. */
function toAssistant(blocks: readonly WireBlock[], note: Note): Message {
  const content: Part[] = [];
  const calls: { readonly call: ToolCall; readonly before: number }[] = [];
  const signatures = new Map<string, VendorData>();
  for (const block of blocks) {
    if ('type' in block && block.type === 'tool_use') {
      const { type: _, id, name, input, cache_control: mark, ...further } = block as Json;
      const call = { id: wordsOf(id), name: wordsOf(name), arguments: JSON.stringify(input ?? {}) };
      calls.push({ call: { ...call, ...own(mark, further, note) }, before: content.length });
      continue;
    }
    const sealed = callSignatures(block);
    if (sealed === undefined) content.push(...toParts(block, note));
    else for (const [id, vendor] of Object.entries(sealed)) signatures.set(id, vendor);
  }
  const toolCalls = calls.map(({ call, before }): ToolCall => {
    const { anthropic = {}, ...others } = { ...call.vendor, ...signatures.get(call.id) };
    const place = before < content.length ? { before } : {};
    const all = { ...anthropic, ...place };
    const vendor: VendorData = { ...others, ...(Object.keys(all).length === 0 ? {} : { anthropic: all }) };
    return Object.keys(vendor).length === 0 ? call : { ...call, vendor };
  });
  return { role: 'assistant', content, ...(toolCalls.length === 0 ? {} : { toolCalls }) };
}

/** What other vendors attached to calls, which `encode.ts` put into a block of its own. */
function callSignatures(block: WireBlock): Record<string, VendorData> | undefined {
  if (!('type' in block) || block.type !== 'redacted_thinking') return undefined;
  const opened = openVendor(redactedData(block))?.['sluice'];
  return isObject(opened?.['calls']) ? (opened['calls'] as Record<string, VendorData>) : undefined;
}

function toToolChoice(choice: MessagesBody['tool_choice']): ToolChoice | undefined {
  switch (choice?.type) {
    case 'auto':
    case 'none':
      return choice.type;
    case 'any':
      return 'required';
    case 'tool':
      return choice.name === undefined ? undefined : { name: choice.name };
    default:
      return undefined;
  }
}

function toResponseFormat(body: MessagesBody, note: Note): ResponseFormat | undefined {
  const format = body.output_config?.format ?? body.output_format;
  for (const [name, value] of Object.entries(body.output_config ?? {})) {
    if (name !== 'format' && name !== 'effort' && value !== null) note(`output_config.${name}`);
  }
  if (format?.type !== 'json_schema' || format.schema === undefined) return undefined;
  return { type: 'json_schema', name: 'answer', schema: format.schema, strict: true };
}

function toSampling(body: MessagesBody): Sampling {
  return present({
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    maxTokens: body.max_tokens,
    stop: body.stop_sequences,
    reasoningEffort: toEffort(body),
    thinkingTokens: toTokens(body),
  });
}

/** A number of tokens for thoughts: models that take one get it, also where an effort is asked for beside it. */
function toTokens({ thinking }: MessagesBody): number | undefined {
  if (thinking?.type !== 'enabled') return undefined;
  return (thinking.budget_tokens ?? 0) > 0 ? (thinking.budget_tokens ?? undefined) : undefined;
}

/** Tokens of thoughts up to which an effort is meant by a budget. */
const LOW_BUDGET = 4_096;
const MEDIUM_BUDGET = 16_384;

/** Whether thoughts may be shown: only Anthropic can leave out their words and keep what it attached to them. */
function showsThoughts(thinking: MessagesBody['thinking']): boolean {
  return [undefined, null, 'summarized'].includes(thinking?.['display'] as string | null | undefined);
}

/** How hard a model of another vendor shall think. What is left to the model becomes what most of them do by themselves. */
function toEffort({ thinking, output_config: config }: MessagesBody): string | undefined {
  // Others think unless told not to, and a short answer may then have no text.
  if (thinking?.type === 'disabled') return 'none';
  const effort = config?.effort;
  if (typeof effort === 'string') return effort === 'max' ? 'xhigh' : effort;
  if (thinking?.type === 'adaptive') return 'medium';
  if (thinking?.type !== 'enabled') return undefined;
  const budget = thinking.budget_tokens ?? LOW_BUDGET;
  if (budget <= LOW_BUDGET) return 'low';
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high';
}
