import { toolInput } from '../../core/call-pieces.ts';
import type { ChatRequest, MediaPart, Message, Part, TextPart, Tool, ToolCall, VendorData } from '../../core/chat.ts';
import { decodeDataUri, heldAsBase64, readDataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import { isObject, membersOf } from '../../core/objects.ts';
import { vendorText } from '../../core/vendor.ts';

type Json = Record<string, unknown>;
type Of<Role> = Extract<Message, { role: Role }>;

/** The API insists on a limit; clients of other gateways leave it out. */
const USUAL_MAX_TOKENS = 4_096;

/**
 * A request of one of Anthropic's own clients → the body that Anthropic gets
 * (https://platform.claude.com/docs/en/api/messages/create). Fields are as the client sent them; messages are written anew,
 * since steps may have added to them. What only Anthropic understands of a part lies in its `vendor.anthropic`:
 * `cacheControl`, `fields` (further members of the block) or the whole `block`.
 */
export function toMessagesBody(request: ChatRequest, drop: (field: string) => void): Json {
  const system: Json[] = [];
  const messages: { readonly role: string; readonly content: Json[] }[] = [];
  const append = (role: string, content: readonly Json[]): void => {
    if (content.length === 0) return;
    const last = messages.at(-1);
    if (last?.role === role && role !== 'system') last.content.push(...content);
    else messages.push({ role, content: [...content] });
  };
  for (const message of request.messages) {
    switch (message.role) {
      case 'system':
      case 'developer': {
        const content = message.content.flatMap((part) => (part.type === 'text' ? [textBlock(part)] : []));
        if (messages.length === 0) system.push(...content);
        else append('system', content);
        break;
      }
      case 'user':
        append('user', message.content.flatMap(userBlock));
        break;
      case 'assistant':
        append('assistant', assistantBlocks(message, drop));
        break;
      case 'tool':
        append('user', [toolResult(message)]);
        break;
    }
  }
  const tools = request.tools ?? [];
  return {
    max_tokens: USUAL_MAX_TOKENS,
    ...request.extra,
    model: request.model,
    ...(system.length === 0 ? {} : { system: plain(system) }),
    messages: messages.map(({ role, content }) => ({ role, content: plain(content) })),
    ...(tools.length === 0 ? {} : { tools: tools.map(toTool) }),
  };
}

/** One text without anything else is written as a string, which means the same. */
function plain(blocks: readonly Json[]): string | readonly Json[] {
  const [only] = blocks;
  const isText = blocks.length === 1 && only?.['type'] === 'text' && Object.keys(only).length === 2;
  return isText ? String(only?.['text']) : blocks;
}

function userBlock(part: Part): Json[] {
  if (part.type === 'text') return [textBlock(part)];
  return part.type === 'media' ? [mediaBlock(part)] : [];
}

function textBlock(part: TextPart): Json {
  return ownBlock(part.vendor) ?? { type: 'text', text: part.text, ...further(part.vendor) };
}

function mediaBlock(part: MediaPart): Json {
  const own = ownBlock(part.vendor);
  if (own !== undefined) return own;
  const uri = readDataUri(part.url);
  const type = uri?.mimeType || (part.mimeType ?? '');
  const kind = part.kind === 'image' ? 'image' : 'document';
  if (kind === 'document' && part.kind !== 'file') {
    throw new SluiceError('invalid_request', `Anthropic takes no ${part.kind}.`, { param: 'messages' });
  }
  const inline = type.startsWith('text/')
    ? () => {
        const bytes = decodeDataUri(part.url, Number.POSITIVE_INFINITY);
        return { type: 'text', media_type: 'text/plain', data: bytes.toString('utf8') };
      }
    : () => ({ type: 'base64', media_type: type, data: heldAsBase64(part.url) });
  return {
    type: kind,
    source: uri === undefined ? { type: 'url', url: part.url } : inline(),
    ...(kind === 'document' && part.name !== undefined ? { title: part.name } : {}),
    ...further(part.vendor),
  };
}

/** Calls stand behind everything that was said, unless the client's message had them elsewhere. */
function assistantBlocks(message: Of<'assistant'>, drop: (field: string) => void): Json[] {
  const calls = [...(message.toolCalls ?? [])];
  const blocks: Json[] = [];
  for (const [index, part] of message.content.entries()) {
    while (calls[0] !== undefined && placeOf(calls[0]) <= index) blocks.push(...calls.splice(0, 1).map(toolUse));
    if (part.type === 'reasoning') {
      const thought = thinkingBlock(part.text, part.vendor);
      if (thought === undefined) drop('thinking');
      else blocks.push(thought);
    } else blocks.push(...userBlock(part));
  }
  return [...blocks, ...calls.map(toolUse)];
}

function placeOf(call: ToolCall): number {
  const place = call.vendor?.['anthropic']?.['before'];
  return typeof place === 'number' ? place : Number.POSITIVE_INFINITY;
}

/** Undefined for thoughts that Anthropic did not sign: it refuses them. */
function thinkingBlock(text: string, vendor: VendorData | undefined): Json | undefined {
  const data = vendorText(vendor, 'anthropic', 'redactedData');
  if (data !== undefined) return { type: 'redacted_thinking', data };
  const signature = vendorText(vendor, 'anthropic', 'signature');
  return signature === undefined || signature === '' ? undefined : { type: 'thinking', thinking: text, signature };
}

function toolUse(call: ToolCall): Json {
  const { id, name } = call;
  return { type: 'tool_use', id, name, input: toolInput(call.arguments), ...further(call.vendor) };
}

function toolResult(message: Of<'tool'>): Json {
  const content = message.content.flatMap(userBlock);
  return {
    type: 'tool_result',
    tool_use_id: message.toolCallId,
    ...(content.length === 0 ? {} : { content: plain(content) }),
    ...(message.isError === undefined ? {} : { is_error: message.isError }),
    ...further(message.vendor),
  };
}

function toTool(tool: Tool): Json {
  const own = tool.vendor?.['anthropic']?.['tool'];
  if (isObject(own)) return own;
  const { name, description, parameters } = tool;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: { type: 'object', ...parameters },
  };
}

function ownBlock(vendor: VendorData | undefined): Json | undefined {
  const block = vendor?.['anthropic']?.['block'];
  return isObject(block) ? block : undefined;
}

function further(vendor: VendorData | undefined): Json {
  const { fields, cacheControl } = vendor?.['anthropic'] ?? {};
  return {
    ...membersOf(fields),
    ...(cacheControl === undefined ? {} : { cache_control: cacheControl }),
  };
}
