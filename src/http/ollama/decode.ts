import type {
  ChatRequest,
  MediaPart,
  Message,
  Part,
  ResponseFormat,
  Sampling,
  Tool,
  ToolCall,
} from '../../core/chat.ts';
import { dataUri, isDataUri, mimeTypeOf } from '../../core/data-uri.ts';
import { present } from '../../core/objects.ts';
import { openVendor } from '../../core/vendor.ts';
import type { Wish } from '../../routing/select.ts';
import { refuseUnreadable, toWebSearch } from '../to-chat.ts';
import { memoryOf } from '../user.ts';
import { DROPPED_FIELDS } from '../wire.ts';
import {
  type AskedBody,
  type ChatBody,
  type GenerateBody,
  KNOWN_FIELDS,
  type WireMessage,
  type WireTool,
} from './wire.ts';

type Json = Record<string, unknown>;

/** Tools without a function are left out. */
export function chatToRequest(body: ChatBody, wish: Wish): ChatRequest {
  const tools = (body.tools ?? []).flatMap(toTool);
  return {
    ...common(body, wish),
    messages: toMessages(body.messages ?? []),
    ...(tools.length === 0 ? {} : { tools }),
  };
}

/** The prompt as the user's one message, behind that of `system`. */
export function generateToRequest(body: GenerateBody, wish: Wish): ChatRequest {
  const { system, prompt, images } = body;
  const asked: WireMessage = { role: 'user', content: prompt ?? '', images: images ?? [] };
  return {
    ...common(body, wish),
    messages: toMessages(system ? [{ role: 'system', content: system }, asked] : [asked], () => ''),
  };
}

function common(body: AskedBody, wish: Wish): Omit<ChatRequest, 'messages'> {
  const responseFormat = toFormat(body.format);
  return {
    ...wish,
    format: 'ollama',
    sampling: toSampling(body),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(body.conversation == null ? {} : { conversation: body.conversation }),
    ...toWebSearch(body.web_search),
    downloadMedia: body.download_media === true,
    ...memoryOf(body.memory, body.user),
    extra: toExtra(body),
  };
}

/** The options that have a place in the middle. */
const KNOWN_OPTIONS: ReadonlySet<string> = new Set([
  'num_predict',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'stop',
  'presence_penalty',
  'frequency_penalty',
]);

function toExtra(body: AskedBody): Json {
  const options = Object.entries(body.options ?? {}).filter(([name]) => !KNOWN_OPTIONS.has(name));
  const others = Object.entries(body).filter(([name]) => !KNOWN_FIELDS.has(name) && !DROPPED_FIELDS.includes(name));
  const all = [...options.map(([name, value]) => [`options.${name}`, value] as const), ...others];
  return Object.fromEntries(all.filter(([, value]) => says(value)));
}

/** Clients of this API like to send what is off: an empty context, `raw: false`. */
function says(value: unknown): boolean {
  return value !== null && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0);
}

function toSampling({ options, think }: AskedBody): Sampling {
  const { num_predict: limit, stop } = options ?? {};
  return present({
    temperature: options?.temperature,
    topP: options?.top_p,
    topK: options?.top_k,
    // Negative: as many as the model likes.
    maxTokens: typeof limit === 'number' && limit > 0 ? limit : undefined,
    stop: typeof stop === 'string' ? [stop] : stop,
    seed: options?.seed,
    presencePenalty: options?.presence_penalty,
    frequencyPenalty: options?.frequency_penalty,
    reasoningEffort: toEffort(think),
  });
}

/** How much a model is to think: the middle for a plain yes. */
export function toEffort(think: AskedBody['think']): string | undefined {
  if (think === true || think === 'true') return 'medium';
  if (think === false || think === 'false') return 'none';
  return think || undefined;
}

function toFormat(format: AskedBody['format']): ResponseFormat | undefined {
  if (format === 'json') return { type: 'json_object' };
  if (typeof format !== 'object' || format === null) return undefined;
  return { type: 'json_schema', name: 'response', schema: format };
}

function toTool({ function: called }: WireTool): Tool[] {
  if (called === undefined) return [];
  const { name, description, parameters } = called;
  return [
    {
      name,
      ...(description ? { description } : {}),
      ...(parameters === null || parameters === undefined ? {} : { parameters }),
    },
  ];
}

/** Messages → ours. Results that do not say which call they answer belong to the oldest open one of that name. */
function toMessages(
  messages: readonly WireMessage[],
  placeOf = (index: number) => `messages[${index}].`,
): readonly Message[] {
  const open: { readonly id: string; readonly name: string }[] = [];
  let calls = 0;
  const nextId = (): string => {
    calls += 1;
    return `call_${calls - 1}`;
  };
  return messages.map((message, index): Message => {
    const content = toParts(message, placeOf(index));
    switch (message.role) {
      case 'assistant': {
        const toolCalls = (message.tool_calls ?? []).map((call) => toToolCall(call, nextId));
        open.push(...toolCalls);
        return {
          role: 'assistant',
          content: [...toThoughts(message), ...content],
          ...(toolCalls.length === 0 ? {} : { toolCalls }),
        };
      }
      case 'tool':
        return { role: 'tool', content, toolCallId: answered(message, open) };
      default:
        return { role: message.role, content };
    }
  });
}

function toToolCall(call: NonNullable<WireMessage['tool_calls']>[number], nextId: () => string): ToolCall {
  const { name, arguments: given } = call.function;
  const vendor = call.signature === undefined ? undefined : openVendor(call.signature);
  return {
    id: call.id || nextId(),
    name,
    arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
    ...(vendor === undefined ? {} : { vendor }),
  };
}

/** The id of the call that a result answers; it is open no longer. */
function answered(
  { tool_call_id: id, tool_name: name }: WireMessage,
  open: { readonly id: string; readonly name: string }[],
): string {
  const at = open.findIndex((call) => (id ? call.id === id : !name || call.name === name));
  const [call] = at === -1 ? [] : open.splice(at, 1);
  return id || (call?.id ?? `call_${name ?? 'unknown'}`);
}

function toThoughts({ thinking, thinking_blocks: blocks }: WireMessage): Part[] {
  const signed = (blocks ?? []).flatMap(({ thinking: text = '', signature }): Part[] => {
    const vendor = signature === undefined ? undefined : openVendor(signature);
    if (vendor !== undefined) return [{ type: 'reasoning', text, vendor }];
    return text === '' ? [] : [{ type: 'reasoning', text }];
  });
  if (signed.length > 0) return signed;
  return thinking ? [{ type: 'reasoning', text: thinking }] : [];
}

function toParts({ content, images, buckets }: WireMessage, place: string): Part[] {
  return [
    ...(images ?? []).map((image, at) => toImage(image, `${place}images[${at}]`)),
    ...(buckets ?? []).map(
      ({ bucket_id: bucketId, name }): Part => ({ type: 'bucket', bucketId, ...(name === undefined ? {} : { name }) }),
    ),
    ...(content ? [{ type: 'text' as const, text: content }] : []),
  ];
}

/** The beginnings of pictures in base64. */
const MAGIC: readonly (readonly [string, string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['Qk', 'image/bmp'],
];

/** An image is base64 without a word about its type; some clients send a whole `data:` URI. */
function toImage(image: string, param: string): MediaPart {
  const part = imageOf(image);
  refuseUnreadable(part.url, param, 'invalid_request');
  return part;
}

function imageOf(image: string): MediaPart {
  if (isDataUri(image)) return { type: 'media', kind: 'image', url: image, ...mimeTypeOf(image) };
  const mimeType = MAGIC.find(([start]) => image.startsWith(start))?.[1] ?? 'image/png';
  return { type: 'media', kind: 'image', url: dataUri(mimeType, image), mimeType };
}
