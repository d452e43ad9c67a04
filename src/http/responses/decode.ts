import type {
  ChatRequest,
  Message,
  Part,
  ReasoningPart,
  ResponseFormat,
  Sampling,
  TextPart,
  Tool,
  ToolCall,
  ToolChoice,
  VendorData,
} from '../../core/chat.ts';
import { dataUri } from '../../core/data-uri.ts';
import { objectsIn, present, wordsOf } from '../../core/objects.ts';
import { asArguments, modelName } from '../../core/tool-names.ts';
import { isUpload } from '../../core/upload-address.ts';
import { openVendor } from '../../core/vendor.ts';
import { isGrammar } from '../freeform.ts';
import { type Callable, callablesOf } from './callables.ts';
import { summaryIn, summaryMessage } from './compaction.ts';
import { carriedBy, type KeptItem, partKey } from './items.ts';
import { toParts } from './parts.ts';
import { asWritten, VerbatimItems } from './verbatim.ts';
import { CLIENT_TOOLS, type Json, type ResponseBody, type WireTool, type WireToolChoice } from './wire.ts';

/** What was understood, and the names of what was not. */
export interface Decoded<T> {
  readonly value: T;
  readonly dropped: readonly string[];
}

/**
 * Items → messages. What the assistant said, thought and called in a row becomes one message, with the items that it was made of for
 * upstreams of this API.
 */
export function toMessages(items: readonly KeptItem[], instructions?: string | null): Decoded<readonly Message[]> {
  const dropped: string[] = [];
  const drop = (what: string): void => void dropped.push(`input.${what}`);
  const messages: Message[] = [];
  if (instructions) {
    const vendor = { openai: { isInstructions: true } };
    messages.push({ role: 'system', content: [{ type: 'text', text: instructions, vendor }] });
  }
  const carried = carriedVendors(items);
  let said: Part[] = [];
  let calls: ToolCall[] = [];
  const verbatim = new VerbatimItems();
  const flush = (): void => {
    if (said.length > 0 || calls.length > 0 || !verbatim.isEmpty) {
      const toolCalls = calls.length === 0 ? {} : { toolCalls: calls };
      messages.push({ role: 'assistant', content: said, ...toolCalls, vendor: verbatim.take() });
    }
    said = [];
    calls = [];
  };
  /** Nothing to anybody but an upstream of this API. */
  const unknown = (kept: KeptItem): void => {
    verbatim.add(kept);
    drop(wordsOf(kept.item['type']).slice(0, 64));
  };
  for (const kept of items) {
    const { item } = kept;
    switch (item['type'] ?? 'message') {
      case 'message': {
        if (item['role'] === 'assistant') {
          said.push(...saidIn(kept, carried, drop));
          verbatim.add(kept);
          break;
        }
        flush();
        const parts = toParts(item['content'], drop);
        const role = item['role'] as 'user' | 'system' | 'developer';
        if (parts.length > 0 || item['content'] === '') messages.push({ role, content: parts });
        break;
      }
      case 'reasoning':
        said.push(...toThoughts(kept));
        verbatim.add(kept);
        break;
      case 'function_call':
      case 'custom_tool_call':
        calls.push(toCall(kept, carried));
        verbatim.add(kept);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        flush();
        messages.push(toResult(item, drop));
        break;
      case 'image_generation_call':
        said.push(...toPictures(item));
        verbatim.add(kept);
        break;
      case 'compaction_trigger': // asks for an answer of another kind
      case 'web_search_call': // what was found stood in the prompt of its time
      case 'additional_tools':
        verbatim.add(kept);
        break;
      case 'compaction': {
        const summary = summaryIn(item);
        if (summary === undefined) {
          unknown(kept);
          break;
        }
        flush();
        messages.push(summaryMessage(summary));
        break;
      }
      default:
        unknown(kept);
    }
  }
  flush();
  return { value: messages, dropped: [...new Set(dropped)] };
}

function toCall({ item, vendor: own }: KeptItem, carried: Readonly<Record<string, VendorData>>): ToolCall {
  const { type, call_id: id = '', name = '', namespace, arguments: written, input } = item as Record<string, string>;
  const vendor = own ?? carried[id];
  return {
    id,
    name: modelName(name, namespace),
    arguments: type === 'function_call' ? (written ?? '') : asArguments(input ?? ''),
    ...(vendor === undefined ? {} : { vendor }),
  };
}

function toResult(item: Json, drop: (what: string) => void): Message {
  const content = toParts(item['output'], drop);
  const { output, ...rest } = asWritten(item);
  // As written, but for files that only we can read: what was returned is made of the parts then.
  const own = content.some(isUpload) ? rest : { ...rest, output };
  return { role: 'tool', toolCallId: wordsOf(item['call_id']), content, vendor: { openai: { item: own } } };
}

function toPictures({ result, output_format: format }: Json): readonly Part[] {
  if (typeof result !== 'string') return [];
  const mimeType = `image/${typeof format === 'string' ? format : 'png'}`;
  return [{ type: 'media', kind: 'image', url: dataUri(mimeType, result), mimeType }];
}

function carriedVendors(items: readonly KeptItem[]): Readonly<Record<string, VendorData>> {
  const all = items.flatMap(({ item }) => {
    const sealed = item['type'] === 'reasoning' ? item['encrypted_content'] : undefined;
    const vendor = typeof sealed === 'string' ? openVendor(sealed) : undefined;
    return vendor === undefined ? [] : Object.entries(carriedBy(vendor) ?? {});
  });
  return Object.fromEntries(all);
}

/** The parts of a message of the assistant, with what their vendor attached. */
function saidIn(
  { item: { id, content }, parts: vendors = [] }: KeptItem,
  carried: Readonly<Record<string, VendorData>>,
  drop: (what: string) => void,
): readonly Part[] {
  if (!Array.isArray(content)) return toParts(content, drop);
  return content.flatMap((each: Json, index) => {
    const vendor = vendors[index] ?? carried[partKey(wordsOf(id), index)];
    const parts = toParts([each], drop);
    return vendor === undefined ? parts : parts.map((part) => ({ ...(part as TextPart), vendor }));
  });
}

/** Thoughts with what their vendor wants back: as we sealed it, as we kept it, or as OpenAI itself has encrypted it. */
function toThoughts({ item, vendor: kept }: KeptItem): readonly ReasoningPart[] {
  const { id, encrypted_content: encrypted } = item;
  const sealed = typeof encrypted === 'string' && encrypted !== '' ? encrypted : undefined;
  const opened = sealed === undefined ? kept : openVendor(sealed);
  if ((opened !== undefined && carriedBy(opened) !== undefined) || (kept !== undefined && carriedBy(kept))) return [];
  const texts = [item['summary'], item['content']]
    .flatMap((list) => (Array.isArray(list) ? [list.map((part: Json) => wordsOf(part['text']))] : []))
    .find((list) => list.length > 0);
  if (opened !== undefined || sealed === undefined) {
    const text = (texts ?? []).join('\n\n');
    const isSigned = opened !== undefined && Object.keys(opened).length > 0;
    if (text === '' && !isSigned) return [];
    return [{ type: 'reasoning', text, ...(isSigned ? { vendor: opened } : {}) }];
  }
  const vendor: VendorData = {
    openai: { ...(typeof id === 'string' ? { itemId: id } : {}), reasoningEncryptedContent: sealed },
  };
  // Its library puts the parts of one item together again.
  return (texts ?? ['']).map((text) => ({ type: 'reasoning', text, vendor }));
}

/** The tools that items bring, which newer clients write into the conversation. */
export function additionalTools(items: readonly KeptItem[]): readonly WireTool[] {
  return items.flatMap(({ item: { type, tools } }) =>
    type === 'additional_tools' ? objectsIn(tools) : [],
  ) as WireTool[];
}

/** Everything of a request except where it goes and what it says. */
export function toFields(
  body: ResponseBody,
): Decoded<Pick<ChatRequest, 'sampling' | 'tools' | 'toolChoice' | 'parallelToolCalls' | 'responseFormat'>> {
  const dropped: string[] = [];
  const given = body.tools ?? [];
  for (const tool of given) {
    if (!CLIENT_TOOLS.has(tool.type) && !isWebSearch(tool.type))
      dropped.push(`tools.${wordsOf(tool.type).slice(0, 64)}`);
    const within = tool.type === 'namespace' ? (tool as { tools: readonly Json[] }).tools : [tool];
    if (within.some(({ type, format }) => type === 'custom' && isGrammar(format))) dropped.push('tools.format');
  }
  const { tools, toolChoice, isDropped } = choose(callablesOf(given), body.tool_choice, given);
  if (isDropped) dropped.push('tool_choice');
  for (const name of body.include ?? []) if (LOST_INCLUDES.has(name)) dropped.push(`include.${name}`);
  const format = toResponseFormat(body.text?.format);
  return {
    value: {
      sampling: toSampling(body),
      ...(tools.length === 0 ? {} : { tools }),
      ...(toolChoice === undefined ? {} : { toolChoice }),
      ...(typeof body.parallel_tool_calls === 'boolean' ? { parallelToolCalls: body.parallel_tool_calls } : {}),
      ...(format === undefined ? {} : { responseFormat: format }),
    },
    dropped: [...new Set(dropped)],
  };
}

/** What else may be included belongs to tools that are not there, and is reported with them. */
const LOST_INCLUDES: ReadonlySet<string> = new Set([
  'message.output_text.logprobs',
  'web_search_call.action.sources',
  'web_search_call.results',
]);

/**
 * When the web is to be searched. Where the client has tools that the model may call, it may call this one too; where it has none,
 * the search comes first, which helps models that call nothing as well.
 */
export function searchOf({ tools, tool_choice: choice }: ResponseBody): 'first' | 'by-model' | undefined {
  const given = tools ?? [];
  if (!given.some(({ type }) => isWebSearch(type))) return undefined;
  if (typeof choice === 'object' && choice !== null) {
    if (isWebSearch(choice.type)) return 'first';
    if (choice.type === 'function' || choice.type === 'custom') return undefined;
    if (choice.type === 'allowed_tools' && !objectsIn(choice['tools']).some(({ type }) => isWebSearch(type)))
      return undefined;
  }
  if (choice === 'none') return undefined;
  return callablesOf(given).length === 0 ? 'first' : 'by-model';
}

/** Whether pages may be fetched for a search, and not only what the engine knows of them. */
export function mayFetchPages({ tools }: ResponseBody): boolean {
  return !(tools ?? []).some((tool) => isWebSearch(tool.type) && tool['external_web_access'] === false);
}

/** `web_search`, `web_search_preview`, and both with a date. */
export function isWebSearch(type: unknown): boolean {
  return typeof type === 'string' && /^web_search(_preview)?(_\d{4}_\d\d_\d\d)?$/.test(type);
}

function toSampling(body: ResponseBody): Sampling {
  return present({
    temperature: body.temperature,
    topP: body.top_p,
    maxTokens: body.max_output_tokens,
    reasoningEffort: body.reasoning?.effort,
  });
}

interface Chosen {
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly isDropped: boolean;
}

/** A choice among what the client runs itself. A list of allowed tools leaves only those. */
function choose(
  callables: readonly Callable[],
  choice: WireToolChoice | null | undefined,
  given: readonly WireTool[],
): Chosen {
  const tools = callables.map(({ tool }) => tool);
  if (choice === null || choice === undefined) return { tools, isDropped: false };
  if (choice === 'auto' || choice === 'none' || choice === 'required') {
    return { tools, toolChoice: choice, isDropped: false };
  }
  if (typeof choice === 'string') return { tools, isDropped: true };
  const { type, name } = choice;
  if ((type === 'function' || type === 'custom') && name !== undefined) {
    const chosen = callables.find((each) => each.name === name);
    return { tools, toolChoice: { name: chosen?.tool.name ?? name }, isDropped: false };
  }
  if (type === 'allowed_tools') {
    const allowed = objectsIn(choice['tools']);
    const left = callables.filter((each) =>
      allowed.some((one) => one['name'] === (one['type'] === 'namespace' ? each.namespace : each.name)),
    );
    const toolChoice = choice['mode'] === 'required' ? 'required' : 'auto';
    return { tools: left.map(({ tool }) => tool), toolChoice, isDropped: false };
  }
  // The web is searched whenever the tool is there.
  return { tools, isDropped: !(isWebSearch(type) && given.some((tool) => isWebSearch(tool.type))) };
}

function toResponseFormat(format: NonNullable<ResponseBody['text']>['format']): ResponseFormat | undefined {
  if (format?.type === 'json_object' || format?.type === 'text') return { type: format.type };
  if (format?.type !== 'json_schema') return undefined;
  const { name, description, schema, strict } = format;
  return {
    type: 'json_schema',
    name: name ?? 'response',
    ...(schema === null || schema === undefined ? {} : { schema }),
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
}
