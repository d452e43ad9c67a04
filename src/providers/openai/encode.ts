import type { ChatRequest, Message, Part, ResponseFormat, ToolChoice } from '../../core/chat.ts';
import { SluiceError, unreachable } from '../../core/errors.ts';

type Json = Record<string, unknown>;

/**
 * A request in the wire format of OpenAI's chat completions
 * (https://platform.openai.com/docs/api-reference/chat/create). Unknown fields of the client come first, so that
 * none of them can displace what was understood.
 */
export function encodeRequest(request: ChatRequest, stream: boolean): Json {
  const { sampling } = request;
  return {
    ...request.extra,
    model: request.model,
    messages: request.messages.map(encodeMessage),
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    ...defined({
      temperature: sampling.temperature,
      top_p: sampling.topP,
      top_k: sampling.topK,
      max_tokens: sampling.maxTokens,
      stop: sampling.stop,
      seed: sampling.seed,
      presence_penalty: sampling.presencePenalty,
      frequency_penalty: sampling.frequencyPenalty,
      reasoning_effort: sampling.reasoningEffort,
      tools: request.tools?.map((tool) => ({ type: 'function', function: defined({ ...tool }) })),
      tool_choice: request.toolChoice === undefined ? undefined : encodeToolChoice(request.toolChoice),
      parallel_tool_calls: request.parallelToolCalls,
      response_format: request.responseFormat === undefined ? undefined : encodeFormat(request.responseFormat),
    }),
  };
}

function encodeMessage(message: Message): Json {
  const content = encodeContent(message.content);
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user':
      return { role: message.role, content, ...defined({ name: message.name }) };
    case 'assistant':
      return {
        role: 'assistant',
        // The API wants null, not an empty string, beside tool calls.
        content: message.content.length === 0 && message.toolCalls !== undefined ? null : content,
        ...defined({
          name: message.name,
          reasoning_content: message.reasoning,
          tool_calls: message.toolCalls?.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: call.arguments },
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
function encodeContent(parts: readonly Part[]): string | Json[] {
  if (parts.every((part) => part.type === 'text')) {
    if (parts.length <= 1) return parts[0]?.text ?? '';
  }
  return parts.map(encodePart);
}

function encodePart(part: Part): Json {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'bucket':
      throw new SluiceError('not_supported', 'Buckets have to be turned into text before a provider sees them.');
    case 'media':
      break;
    default:
      return unreachable(part);
  }
  switch (part.kind) {
    case 'image':
      return { type: 'image_url', image_url: { url: part.url, ...defined({ detail: part.detail }) } };
    case 'audio': {
      if (!part.url.startsWith('data:')) {
        throw new SluiceError('not_supported', 'This provider hears inline audio only, not audio at an address.');
      }
      const comma = part.url.indexOf(',');
      const format = /^data:audio\/(?:x-)?([a-z0-9]+)/.exec(part.url)?.[1] ?? 'wav';
      return {
        type: 'input_audio',
        input_audio: { data: part.url.slice(comma + 1), format: format === 'mpeg' ? 'mp3' : format },
      };
    }
    case 'video':
      return { type: 'video_url', video_url: { url: part.url } };
    case 'file':
      return { type: 'file', file: { file_data: part.url, ...defined({ filename: part.name }) } };
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

/** Without the members that are undefined, so that nothing absent is sent as something. */
function defined(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
