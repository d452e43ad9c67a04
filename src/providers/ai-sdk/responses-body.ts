import type { ChatRequest, MediaPart, Message, Part, ToolCall, VendorData } from '../../core/chat.ts';
import { base64Of, mimeTypeOf } from '../../core/data-uri.ts';
import { isObject } from '../../core/objects.ts';
import { capabilitiesOf } from '../openai/capabilities.ts';

type Json = Record<string, unknown>;

const ENCRYPTED = 'reasoning.encrypted_content';
/** What would come for it has no place among chunks. */
const UNREAD_INCLUDE = 'message.output_text.logprobs';

/**
 * A request of a client of the Responses API → the body that OpenAI gets
 * (https://platform.openai.com/docs/api-reference/responses/create). Fields are as the client sent them; what users and the system say
 * is written anew, since steps may have added to it. In `vendor.openai` lie: of a message the `items` or the `item` that it was made
 * of, of a part the `part` or the `fields` that only OpenAI understands, or that it `isInstructions`.
 */
export function toResponsesBody(request: ChatRequest, drop: (field: string) => void): Json {
  const { include: asked, top_logprobs: logprobs, ...extra } = request.extra;
  const include = new Set(Array.isArray(asked) ? asked : []);
  if (include.delete(UNREAD_INCLUDE)) drop(`include.${UNREAD_INCLUDE}`);
  if (logprobs !== undefined) drop('top_logprobs');
  // Thoughts are not stored there, so what they are to be handed back as has to come along. Models without any refuse that.
  if (thinks(request)) include.add(ENCRYPTED);
  const [first, ...others] = request.messages;
  const instructions = first === undefined ? undefined : instructionsOf(first);
  const messages = instructions === undefined ? request.messages : others;
  if (messages.some(isLossy)) drop('input.reasoning');
  return {
    ...extra,
    model: request.model,
    input: messages.flatMap(toItems),
    ...(instructions === undefined ? {} : { instructions }),
    ...(include.size === 0 ? {} : { include: [...include] }),
  };
}

/** Whether thoughts of another vendor were left out of it. */
function isLossy(message: Message): boolean {
  return message.role === 'assistant' && message.vendor?.['openai']?.['isLossy'] === true;
}

function thinks({ sampling, model }: ChatRequest): boolean {
  const { reasoningEffort = 'none' } = sampling;
  return reasoningEffort !== 'none' || capabilitiesOf(model).reasoning === true;
}

function instructionsOf({ role, content }: Message): string | undefined {
  const isMeant = role === 'system' && content.some(isInstructions);
  return isMeant ? textOf(content) : undefined;
}

function isInstructions(part: Part): boolean {
  return part.type === 'text' && part.vendor?.['openai']?.['isInstructions'] === true;
}

function textOf(content: readonly Part[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
}

function toItems(message: Message): readonly Json[] {
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user':
      return [{ type: 'message', role: message.role, content: message.content.flatMap(toInput) }];
    case 'assistant':
      return ownList(message.vendor) ?? [...saidBy(message.content), ...(message.toolCalls ?? []).map(toCall)];
    case 'tool':
      return [
        {
          type: 'function_call_output',
          call_id: message.toolCallId,
          output: toOutput(message.content),
          ...own(message.vendor, 'item'),
        },
      ];
  }
}

/** What a tool returned: a text, or parts where there is more than text. */
function toOutput(content: readonly Part[]): string | readonly Json[] {
  return content.every(({ type }) => type === 'text') ? textOf(content) : content.flatMap(toInput);
}

function saidBy(content: readonly Part[]): readonly Json[] {
  const text = textOf(content);
  return text === '' ? [] : [{ type: 'message', role: 'assistant', content: text }];
}

function toCall({ id, name, arguments: written }: ToolCall): Json {
  return { type: 'function_call', call_id: id, name, arguments: written };
}

function toInput(part: Part): readonly Json[] {
  if (part.type === 'bucket' || part.type === 'reasoning') return [];
  const verbatim = own(part.vendor, 'part');
  if (verbatim !== undefined) return [verbatim];
  const plain = part.type === 'text' ? { type: 'input_text', text: part.text } : toMedia(part);
  return [{ ...plain, ...own(part.vendor, 'fields') }];
}

function toMedia({ kind, url, name, detail, mimeType = mimeTypeOf(url).mimeType }: MediaPart): Json {
  if (kind === 'image') return { type: 'input_image', image_url: url, detail: detail ?? 'auto' };
  const data = base64Of(url);
  if (kind === 'audio' && data !== undefined) {
    const format = mimeType === 'audio/mpeg' ? 'mp3' : (mimeType ?? '').replace(/^audio\/(?:x-)?/, '');
    return { type: 'input_audio', input_audio: { data, format } };
  }
  return {
    type: 'input_file',
    ...(data === undefined ? { file_url: url } : { file_data: url, filename: name ?? 'file' }),
  };
}

function own(vendor: VendorData | undefined, name: string): Json | undefined {
  const value = vendor?.['openai']?.[name];
  return isObject(value) ? value : undefined;
}

function ownList(vendor: VendorData | undefined): readonly Json[] | undefined {
  const items = vendor?.['openai']?.['items'];
  return Array.isArray(items) ? items : undefined;
}
