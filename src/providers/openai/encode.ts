import type { ChatRequest, Message, Part, ResponseFormat, ToolCall, ToolChoice } from '../../core/chat.ts';
import { base64Of, isBrokenDataUri, isDataUri, isNoMedia, mimeTypeOf } from '../../core/data-uri.ts';
import { SluiceError, unreachable } from '../../core/errors.ts';
import { defined } from '../../core/objects.ts';
import { vendorText } from '../../core/vendor.ts';
import { lostMarks } from '../lost.ts';
import { withShownMedia } from '../shown-media.ts';
import { nearestEffort } from './efforts.ts';
import { type Service, USUAL_SERVICE } from './services.ts';
import { takenMessage } from './taken-message.ts';

type Json = Record<string, unknown>;

/**
 * A request in the wire format of OpenAI's chat completions
 * (https://platform.openai.com/docs/api-reference/chat/create). Unknown fields of the client come first, so that
 * none of them can displace what was understood. `drop` hears of fields that have no place in this format.
 */
export function encodeRequest(
  request: ChatRequest,
  stream: boolean,
  drop: (field: string) => void = () => {},
  service: Service = USUAL_SERVICE,
): Json {
  const { sampling, tools = [] } = request;
  const effort = sampling.reasoningEffort;
  // A choice among no tools is an error to OpenAI.
  const hasTools = tools.length > 0;
  for (const field of lost(request)) drop(field);
  return {
    ...ownExtra(request),
    model: request.model,
    messages: messagesOf(request).map((message) => takenMessage(encodeMessage(message, service), service, drop)),
    stream,
    ...(stream && service.countsUnasked !== true ? { stream_options: { include_usage: true } } : {}),
    ...defined({
      temperature: sampling.temperature,
      top_p: sampling.topP,
      top_k: sampling.topK,
      [wordForMaxTokens(request.model)]: sampling.maxTokens,
      stop: sampling.stop,
      seed: sampling.seed,
      presence_penalty: sampling.presencePenalty,
      frequency_penalty: sampling.frequencyPenalty,
      reasoning_effort: effort === undefined ? undefined : nearestEffort(effort, request.model),
      tools: request.tools?.map(({ vendor: _, ...tool }) => ({ type: 'function', function: defined({ ...tool }) })),
      tool_choice: !hasTools || request.toolChoice === undefined ? undefined : encodeToolChoice(request.toolChoice),
      parallel_tool_calls: hasTools ? request.parallelToolCalls : undefined,
      response_format: request.responseFormat === undefined ? undefined : encodeFormat(request.responseFormat),
    }),
  };
}

/**
 * With text alone beside what users say (https://platform.openai.com/docs/api-reference/chat/create). Whoever writes this very format
 * knows what its upstream takes.
 */
function messagesOf({ messages, format = 'openai' }: ChatRequest): readonly Message[] {
  return format === 'openai' ? messages : withShownMedia(messages);
}

/** OpenAI's own models that think, whoever serves them. They refuse `max_tokens`, which many others know alone. */
const OPENAI_THINKERS = /(?:^|\/)(?:o[1-9]|gpt-[5-9])(?:[-.:\d]|$)/i;

function wordForMaxTokens(model: string): string {
  return OPENAI_THINKERS.test(model) ? 'max_completion_tokens' : 'max_tokens';
}

function encodeMessage(message: Message, service: Service): Json & { readonly role: string } {
  const content = encodeContent(
    message.content.filter((part) => part.type !== 'reasoning'),
    service,
  );
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user':
      return { role: message.role, content, ...defined({ name: message.name }) };
    case 'assistant':
      return {
        role: 'assistant',
        // The API wants null, not an empty string, beside tool calls.
        content: content.length === 0 && message.toolCalls !== undefined ? null : content,
        ...defined({
          name: message.name,
          reasoning_content: thoughts(message.content),
          tool_calls: message.toolCalls?.map((call) => ({
            id: call.id,
            type: 'function',
            // Some servers take nothing for broken JSON.
            function: { name: call.name, arguments: call.arguments.trim() === '' ? '{}' : call.arguments },
            ...signature(call),
          })),
        }),
      };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content };
    default:
      return unreachable(message);
  }
}

/** One text as a string, which every upstream understands; anything else as parts. */
function encodeContent(parts: readonly Part[], service: Service): string | Json[] {
  if (parts.every((part) => part.type === 'text')) {
    if (parts.length <= 1) return parts[0]?.text ?? '';
  }
  return parts.map((part) => encodePart(part, service));
}

/** Fields with the same meaning in both of OpenAI's APIs. */
const SHARED_FIELDS: ReadonlySet<string> = new Set([
  'user',
  'metadata',
  'service_tier',
  'prompt_cache_key',
  'safety_identifier',
]);

/** What an answer would hold for these has no place among chunks, so it is not asked for. */
const UNREAD_FIELDS: ReadonlySet<string> = new Set(['logprobs', 'top_logprobs']);

/** What a field of the Responses API is called here. Only models of OpenAI that think can be told how many words to make. */
function nameHere(name: string, model: string): string | undefined {
  if (SHARED_FIELDS.has(name)) return name;
  return name === 'text.verbosity' && OPENAI_THINKERS.test(model) ? 'verbosity' : undefined;
}

function ownExtra({ extra, model, format = 'openai' }: ChatRequest): Json {
  if (format === 'openai')
    return Object.fromEntries(Object.entries(extra).filter(([name]) => !UNREAD_FIELDS.has(name)));
  if (format !== 'responses') return {};
  const named = Object.entries(extra).map(([name, value]) => [nameHere(name, model), value] as const);
  return Object.fromEntries(named.filter(([name]) => name !== undefined));
}

/** What a request of another format says that this one cannot. */
function* lost(request: ChatRequest): Iterable<string> {
  const own = ownExtra(request);
  for (const [name, value] of Object.entries(request.extra)) {
    const isAsked = !UNREAD_FIELDS.has(name) || (value !== false && value !== null);
    const here = request.format === 'responses' ? nameHere(name, request.model) : name;
    if (isAsked && (here === undefined || !(here in own))) yield name;
  }
  yield* lostMarks(request);
}

/** All that the assistant thought, as one text: the format has no other place. */
function thoughts(parts: readonly Part[]): string | undefined {
  const text = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
  return text === '' ? undefined : text;
}

/** Gemini's signature of a call, as its compatible interface spells it (https://ai.google.dev/gemini-api/docs/thought-signatures). */
function signature(call: ToolCall): Json {
  const signed = vendorText(call.vendor, 'google', 'thoughtSignature');
  return signed === undefined ? {} : { extra_content: { google: { thought_signature: signed } } };
}

function encodePart(part: Part, { fetchesFiles }: Service): Json {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'reasoning':
      throw new Error('thoughts are not content');
    case 'bucket':
      throw new SluiceError('not_supported', 'Buckets have to be turned into text before a provider sees them.');
    case 'media':
      break;
    default:
      return unreachable(part);
  }
  if (isNoMedia(part.url))
    throw new SluiceError('invalid_request', 'Media must be an http(s) address or a data: URI.', { param: 'messages' });
  if (isBrokenDataUri(part.url))
    throw new SluiceError('invalid_request', 'Media must be valid base64, and not empty.', { param: 'messages' });
  switch (part.kind) {
    case 'image':
      return { type: 'image_url', image_url: { url: part.url, ...defined({ detail: part.detail }) } };
    case 'audio': {
      const data = base64Of(part.url);
      if (data === undefined) {
        const message = 'This provider hears inline audio only, in base64, not audio at an address.';
        throw new SluiceError('not_supported', message, { param: 'messages' });
      }
      const format = /^audio\/(?:x-)?([a-z0-9]+)/.exec(mimeTypeOf(part.url).mimeType ?? '')?.[1] ?? 'wav';
      return {
        type: 'input_audio',
        input_audio: { data, format: format === 'mpeg' ? 'mp3' : format },
      };
    }
    case 'video':
      return { type: 'video_url', video_url: { url: part.url } };
    case 'file':
      if (fetchesFiles !== true && !isDataUri(part.url)) {
        const message = 'This provider reads inline files only, not a file at an address: send it as a data: URI.';
        throw new SluiceError('invalid_request', message, { param: 'messages' });
      }
      // OpenAI takes a file without a name for a reference to one.
      return { type: 'file', file: { file_data: part.url, filename: part.name ?? 'document.pdf' } };
    default:
      return unreachable(part.kind);
  }
}

function encodeToolChoice(choice: ToolChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}

function encodeFormat(format: ResponseFormat): Json {
  if (format.type !== 'json_schema') return { type: format.type };
  const { type, ...schema } = format;
  return { type, json_schema: defined(schema) };
}
