import type { ChatRequest, Message, Part, Sampling, ToolCall } from '../../core/chat.ts';
import { SluiceError } from '../../core/errors.ts';
import { lostMarks, lostNames, saysNothing } from '../lost.ts';
import { toGrammarSchema } from './grammar-schema.ts';
import type { PastCall, Task, TaskSampling, Turn } from './protocol.ts';

/** How a model chooses its words where the client leaves it open. */
export interface SamplingDefaults {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly repeatPenalty: number;
}

/**
 * What was asked, as the engine wants it. Throws `not_supported` for what a text model of this kind cannot do, naming
 * it, and `invalid_request` for a request without messages.
 */
export function toTask(request: ChatRequest, defaults: SamplingDefaults): Task {
  refuseForcedTools(request);
  if (request.messages.length === 0) {
    throw new SluiceError('invalid_request', 'There must be at least one message.', { param: 'messages' });
  }
  const format = toFormat(request);
  return {
    turns: toTurns(request.messages),
    sampling: toSampling(request.sampling, defaults, format !== undefined),
    ...(format === undefined ? {} : { format }),
    thinking: request.sampling.reasoningEffort !== 'none',
  };
}

/** What of a request has no place here, by OpenAI's names. Models that think cannot be told how hard, but to leave it. */
export function* lost(request: ChatRequest, thinks: boolean): Iterable<string> {
  const { extra, tools = [], toolChoice, sampling } = request;
  const { reasoningEffort = 'none' } = sampling;
  for (const [field, value] of Object.entries(extra)) if (!saysNothing(field, value)) yield field;
  if (tools.length > 0 && toolChoice !== 'none') yield 'tools';
  if (reasoningEffort !== 'none' && !thinks) yield 'reasoning_effort';
  yield* lostNames(request);
  yield* lostMarks(request);
}

function refuseForcedTools(request: ChatRequest): void {
  const { toolChoice } = request;
  if (toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none') return;
  throw new SluiceError('not_supported', 'The embedded models cannot call tools.', { param: 'tool_choice' });
}

function toFormat({ responseFormat }: ChatRequest): Task['format'] {
  if (responseFormat === undefined || responseFormat.type === 'text') return undefined;
  if (responseFormat.type === 'json_object' || responseFormat.schema === undefined) return {};
  return { schema: toGrammarSchema(responseFormat.schema) };
}

function toSampling(asked: Sampling, defaults: SamplingDefaults, json: boolean): TaskSampling {
  return {
    temperature: asked.temperature ?? defaults.temperature,
    topP: asked.topP ?? defaults.topP,
    topK: asked.topK ?? defaults.topK,
    // JSON repeats its quotes and braces; punishing that makes a weak model end its strings in odd places.
    repeatPenalty: json ? 1 : defaults.repeatPenalty,
    presencePenalty: asked.presencePenalty ?? 0,
    frequencyPenalty: asked.frequencyPenalty ?? 0,
    ...(asked.seed === undefined ? {} : { seed: asked.seed }),
    ...(asked.maxTokens === undefined ? {} : { maxTokens: asked.maxTokens }),
    stop: asked.stop ?? [],
  };
}

/** Assistant messages and the tool answers after them become one turn, as chat templates want it. */
function toTurns(messages: readonly Message[]): readonly Turn[] {
  const turns: Turn[] = [];
  const calls = new Map<string, ToolCall>();
  let assistant: (string | PastCall)[] | undefined;
  messages.forEach((message, index) => {
    const text = textOf(message.content, index);
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) calls.set(call.id, call);
    switch (message.role) {
      case 'system':
      case 'developer':
        turns.push({ role: 'system', text });
        assistant = undefined;
        break;
      case 'user':
        turns.push({ role: 'user', text });
        assistant = undefined;
        break;
      case 'assistant':
      case 'tool':
        if (assistant === undefined) {
          assistant = [];
          turns.push({ role: 'assistant', parts: assistant });
        }
        if (message.role === 'tool') assistant.push(answered(calls.get(message.toolCallId), text));
        else if (text !== '') assistant.push(text);
        break;
    }
  });
  return turns;
}

/** Templates show a call and its result together. */
function answered(call: ToolCall | undefined, result: string): PastCall {
  return { name: call?.name ?? 'tool', arguments: parsed(call?.arguments ?? '{}'), result };
}

function textOf(parts: readonly Part[], message: number): string {
  return parts
    .flatMap((part, index) => {
      if (part.type === 'text') return [part.text];
      // Templates leave out what was thought before.
      if (part.type === 'reasoning') return [];
      const what =
        part.type === 'media'
          ? `${part.kind === 'image' || part.kind === 'audio' ? 'an' : 'a'} ${part.kind}`
          : 'a bucket';
      throw new SluiceError('not_supported', `The embedded models read text only; this message has ${what}.`, {
        param: `messages[${message}].content[${index}]`,
      });
    })
    .join('\n');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
