import type {
  ChatRequest,
  Message,
  Part,
  ReasoningPart,
  ResponseFormat,
  Sampling,
  ToolCall,
  VendorData,
} from '../core/chat.ts';
import { asDataUri, base64Of, isBrokenBase64, isBrokenDataUri, isNoMedia, mimeTypeOf } from '../core/data-uri.ts';
import { SluiceError } from '../core/errors.ts';
import { isObject, membersOf, present, textOf, wordsOf } from '../core/objects.ts';
import type { Step } from '../core/stream.ts';
import { asArguments } from '../core/tool-names.ts';
import { isUploadId, uploadAddress } from '../core/upload-address.ts';
import { openVendor } from '../core/vendor.ts';
import { lostOfTools, toOffered } from './chat-tools.ts';
import { type ToolFields, withToolCalls } from './older-calls.ts';
import type { WireChatFields, WireMessage, WirePart } from './wire.ts';

/** Messages of the wire → ours. Parts that say nothing vanish, and so do messages without any part. */
export function toMessages(messages: readonly WireMessage[]): readonly Message[] {
  return withToolCalls(messages).flatMap((message) => {
    const converted = toMessage(message);
    return converted === undefined ? [] : [converted];
  });
}

function toMessage(message: WireMessage): Message | undefined {
  const content = toParts(message.content);
  const name = typeof message.name === 'string' ? { name: message.name } : {};
  switch (message.role) {
    case 'assistant': {
      const thoughts = toThoughts(message);
      const said = [...content, ...toRefusal(message['refusal'])];
      const toolCalls = (message.tool_calls ?? []).flatMap((call): ToolCall[] =>
        call.function === undefined
          ? toFreeformCall(call)
          : [
              {
                id: call.id ?? '',
                name: call.function.name,
                arguments: call.function.arguments ?? '',
                ...toCallVendor(call['extra_content']),
              },
            ],
      );
      if (said.length === 0 && toolCalls.length === 0 && message.content !== '') return undefined;
      return {
        role: 'assistant',
        content: [...thoughts, ...said],
        ...name,
        ...(toolCalls.length === 0 ? {} : { toolCalls }),
      };
    }
    case 'tool':
    case 'function':
      return { role: 'tool', content, toolCallId: message.tool_call_id ?? message.name ?? '' };
    default:
      // Front ends send an empty array after a file was uploaded.
      if (content.length === 0 && message.content !== '') return undefined;
      return { role: message.role, content, ...name };
  }
}

/** Messages without content are passed over, one by one; an upstream would refuse what is left then. */
export function nothingSaid(code: 'invalid_request' | 'invalid_field'): SluiceError {
  return new SluiceError(code, "'messages' must have at least one with content.", { param: 'messages' });
}

/**
 * Tells what a request holds that ours has no place for: a file or a sound by its id, kinds of parts, tools and formats that only
 * its upstream knows. Throws at a format and at media that nobody could read.
 */
export function tellLostParts(asked: WithTools, code: 'invalid_request' | 'invalid_field'): Step {
  const { messages, response_format: format } = asked;
  return {
    name: 'lost-parts',
    enrich(request, call) {
      for (const [index, message] of messages.entries()) refuseBroken(message, `messages[${index}]`, code);
      for (const name of new Set(messages.flatMap(lostIn))) call.drop(`messages.${name}`);
      for (const name of lostOfTools(asked, code)) call.drop(name);
      if (format?.type === 'json_schema' && format.json_schema === undefined) {
        const param = 'response_format.json_schema';
        throw new SluiceError(code, `'${param}' is required.`, { param });
      }
      if (format != null && toResponseFormat(format) === undefined) call.drop('response_format');
      return { request };
    },
  };
}

interface WithTools extends ToolFields, Pick<WireChatFields, 'response_format'> {
  readonly messages: readonly WireMessage[];
}

function refuseBroken({ content }: WireMessage, place: string, code: 'invalid_request' | 'invalid_field'): void {
  if (!Array.isArray(content)) return;
  for (const [at, part] of content.entries()) {
    for (const each of toPart(part)) {
      if (each.type === 'media') refuseUnreadable(each.url, `${place}.content[${at}]`, code);
    }
  }
}

/** Throws at the address of media that nobody could read, by the name of the field that holds it. */
export function refuseUnreadable(url: string, param: string, code: 'invalid_request' | 'invalid_field'): void {
  const wanted = wantedInstead(url);
  if (wanted !== undefined) throw new SluiceError(code, `'${param}' must be ${wanted}.`, { param });
}

function wantedInstead(url: string): string | undefined {
  if (isBrokenDataUri(url)) {
    const data = base64Of(url) ?? '';
    return /^\s*https?:/i.test(data) ? 'base64 or a data: URI, and not an address' : validBase64(data);
  }
  return isNoMedia(url) ? 'a data: URI or an http(s) address' : undefined;
}

/** The same for a field that holds base64 and nothing else: no address, not even one that holds what it names. */
export function refuseNoBase64(data: string, mimeType: string, param: string): void {
  // An empty text is one to most vendors; it is theirs to refuse.
  if (!isBrokenBase64(data) || (data === '' && mimeType.startsWith('text/'))) return;
  const wanted = /^\s*(?:https?|data):/i.test(data) ? 'base64, and not an address' : validBase64(data);
  throw new SluiceError('invalid_request', `'${param}' must be ${wanted}.`, { param });
}

function validBase64(data: string): string {
  return data === '' ? 'valid base64, and not empty' : 'valid base64';
}

function lostIn(message: WireMessage): string[] {
  const others = isObject(message['audio']) ? ['audio'] : [];
  if (message.tool_calls?.some((call) => call.function === undefined && toFreeformCall(call).length === 0)) {
    others.push('tool_calls');
  }
  if (!Array.isArray(message.content)) return others;
  const lost = message.content.filter((part) => !('text' in part || 'refusal' in part) && toPart(part).length === 0);
  return [...others, ...lost.map((part) => ('file' in part ? 'file_id' : wordsOf(part['type'])))];
}

/** A call of a freeform tool, as the function that stands for one: its result would belong to no call, which vendors refuse. */
function toFreeformCall(call: NonNullable<WireMessage['tool_calls']>[number]): ToolCall[] {
  const { name, input } = membersOf(call['custom']);
  if (typeof name !== 'string') return [];
  return [{ id: call.id ?? '', name, arguments: asArguments(textOf(input)), ...toCallVendor(call['extra_content']) }];
}

/** A refusal that comes back, beside the content or as a part of it, is what the assistant said. */
function toRefusal(refusal: unknown): Part[] {
  return typeof refusal === 'string' && refusal !== '' ? [{ type: 'text', text: refusal }] : [];
}

/**
 * What the assistant thought, under all the names that the field has given it: `reasoning_details` with signatures (OpenRouter's
 * form, and ours), else `reasoning_content` (DeepSeek, vLLM) or `reasoning` (OpenRouter, Groq).
 */
function toThoughts(message: WireMessage): readonly ReasoningPart[] {
  const details = message['reasoning_details'];
  const parts = Array.isArray(details) ? joinPieces(details).flatMap(toThought) : [];
  if (parts.length > 0) return parts;
  const text = [message.reasoning_content, message.reasoning].find((each) => typeof each === 'string');
  return typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text }] : [];
}

/** The pieces of a stream as one: those with the same index, up to the one that is signed. */
function joinPieces(details: readonly unknown[]): readonly unknown[] {
  const joined: unknown[] = [];
  for (const detail of details) {
    const last = membersOf(joined.at(-1));
    const next = membersOf(detail);
    const isNext =
      typeof next['index'] === 'number' &&
      next['index'] === last['index'] &&
      typeof last['text'] === 'string' &&
      typeof last['signature'] !== 'string' &&
      next['data'] === undefined;
    if (isNext) joined[joined.length - 1] = { ...next, text: last['text'] + textOf(next['text']) };
    else joined.push(detail);
  }
  return joined;
}

function toThought(detail: unknown): ReasoningPart[] {
  if (typeof detail !== 'object' || detail === null) return [];
  const { text, thinking, signature, data } = detail as Record<string, unknown>;
  // The last piece of a stream alone has the whole block beside it.
  const said = textOf(thinking) || textOf(text);
  const sealed = typeof signature === 'string' ? signature : typeof data === 'string' ? data : undefined;
  if (sealed === undefined) return said === '' ? [] : [{ type: 'reasoning', text: said }];
  const own: VendorData = { anthropic: typeof signature === 'string' ? { signature } : { redactedData: sealed } };
  return [{ type: 'reasoning', text: said, vendor: openVendor(sealed) ?? own }];
}

/** Gemini's signature of a call, as its compatible interface spells it. */
function toCallVendor(extra: unknown): Pick<ToolCall, 'vendor'> {
  const signed = (extra as { google?: { thought_signature?: unknown } } | null | undefined)?.google?.thought_signature;
  return typeof signed === 'string' ? { vendor: { google: { thoughtSignature: signed } } } : {};
}

function toParts(content: WireMessage['content']): readonly Part[] {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap(toPart);
}

function toPart(part: WirePart): Part[] {
  const { cache_control: mark } = part as { cache_control?: unknown };
  const parts = toUnmarked(part);
  if (!isObject(mark)) return parts;
  // Anthropic's mark for its prompt cache, which clients of the OpenAI format send too.
  return parts.map((each) => ({ ...each, vendor: { anthropic: { cacheControl: mark } } }));
}

function toUnmarked(part: WirePart): Part[] {
  const known = part as {
    type?: string;
    text?: unknown;
    name?: unknown;
    bucket_id?: unknown;
    image_url?: string | { url: string; detail?: string };
    video_url?: string | { url: string };
    input_audio?: { data: string; format?: string };
    file?: { file_data?: string; filename?: string; file_id?: unknown };
    refusal?: unknown;
  };
  const name = typeof known.name === 'string' && known.name !== '' ? { name: known.name } : {};
  const isOfBucket = typeof known.bucket_id === 'string';
  // Converted media: the text is meant, not the file. An empty one is none.
  if (typeof known.text === 'string' && !(isOfBucket && known.text === '')) {
    return known.text === '' ? [] : [{ type: 'text', text: known.text }];
  }
  if (typeof known.bucket_id === 'string') return [{ type: 'bucket', bucketId: known.bucket_id, ...name }];
  if (known.image_url !== undefined) {
    const { url, detail } = typeof known.image_url === 'string' ? { url: known.image_url } : known.image_url;
    return [
      { type: 'media', kind: 'image', url, ...mimeTypeOf(url), ...name, ...(detail === undefined ? {} : { detail }) },
    ];
  }
  if (known.video_url !== undefined) {
    const url = typeof known.video_url === 'string' ? known.video_url : known.video_url.url;
    return [{ type: 'media', kind: 'video', url, ...mimeTypeOf(url), ...name }];
  }
  if (known.input_audio !== undefined) {
    const { data, format = 'wav' } = known.input_audio;
    const type = `audio/${format === 'mp3' ? 'mpeg' : format}`;
    const url = asDataUri(type, data);
    return [{ type: 'media', kind: 'audio', url, mimeType: type, ...name }];
  }
  if (typeof known.file?.file_data === 'string') {
    const { file_data: data, filename } = known.file;
    const url = asDataUri('application/octet-stream', data);
    return [
      { type: 'media', kind: 'file', url, ...mimeTypeOf(url), ...(filename === undefined ? name : { name: filename }) },
    ];
  }
  const { file_id: id, filename } = known.file ?? {};
  if (isUploadId(id)) {
    return [
      { type: 'media', kind: 'file', url: uploadAddress(id), ...(filename === undefined ? name : { name: filename }) },
    ];
  }
  return toRefusal(known.refusal);
}

/** Sampling and everything else of a chat request, except where it goes and what it says. */
export function toChatFields(
  body: WireChatFields,
): Pick<ChatRequest, 'sampling' | 'tools' | 'toolChoice' | 'parallelToolCalls' | 'responseFormat'> {
  const responseFormat = toResponseFormat(body.response_format);
  return {
    sampling: toSampling(body),
    ...toOffered(body),
    ...(typeof body.parallel_tool_calls === 'boolean' ? { parallelToolCalls: body.parallel_tool_calls } : {}),
    ...(responseFormat === undefined ? {} : { responseFormat }),
  };
}

function toSampling(body: WireChatFields): Sampling {
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  const stop = typeof body.stop === 'string' ? [body.stop] : body.stop;
  return present({
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    maxTokens,
    stop,
    seed: body.seed,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    reasoningEffort: toEffort(body.reasoning_effort),
  });
}

/** An effort in OpenAI's words: front ends also write `x-high`. */
export function toEffort<Word>(word: Word): Word | 'xhigh' {
  return word === 'x-high' ? 'xhigh' : word;
}

function toResponseFormat(format: WireChatFields['response_format']): ResponseFormat | undefined {
  if (format?.type === 'json_object') {
    // As Hugging Face's library for Python writes a schema (`value`), and servers such as llama.cpp's take it (`schema`).
    const schema = [format['schema'], format['value']].find(isObject);
    // An empty one asks for any JSON, and Anthropic refuses it.
    if (schema === undefined || Object.keys(schema).length === 0) return { type: format.type };
    return { type: 'json_schema', name: 'response', schema };
  }
  if (format?.type === 'text') return { type: format.type };
  if (format?.type !== 'json_schema' || format.json_schema === undefined) return undefined;
  const { name, description, schema, strict } = format.json_schema;
  return {
    type: 'json_schema',
    name,
    ...(schema === null || schema === undefined ? {} : { schema }),
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
}

/** Whether an answer of a given form is asked for, in whichever way. */
export function asksForSchema(format: WireChatFields['response_format']): boolean {
  return format?.type === 'json_schema' || toResponseFormat(format)?.type === 'json_schema';
}

/** What to search the web for, from a JSON field or a query parameter: the words that mean no are no search terms. */
export function toWebSearch(value: boolean | string | null | undefined): { webSearch?: true | string } {
  if (value === true) return { webSearch: true };
  if (typeof value !== 'string' || /^(|false|0|no)$/i.test(value.trim())) return {};
  return { webSearch: /^(true|1)$/i.test(value.trim()) ? true : value };
}
