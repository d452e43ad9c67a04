import type { ChatRequest, Message, Part } from '../../core/chat.ts';
import { SluiceError } from '../../core/errors.ts';
import { speaks } from '../../providers/ai-sdk/native.ts';
import type { Target } from '../../routing/select.ts';
import { DROPPED_FIELDS, RoutingFields } from '../wire.ts';
import { isWebSearch } from './decode.ts';
import type { Json, ResponseBody } from './wire.ts';

/** What the parts of a request come to that depend on who gets it. */
export interface Sent {
  readonly value: Json;
  readonly body: ResponseBody;
  /** Fields for upstreams that share some with this API. */
  readonly extra: Json;
  /** Names of what nobody else has a place for. */
  readonly foreign: readonly string[];
  /** Whether Sluice has searched already. */
  readonly isSearched: boolean;
}

/** The request as one target gets it. */
export function sentTo(target: Target, request: ChatRequest, sent: Sent): ChatRequest {
  return speaks(target.provider, 'responses') ? asWritten(request, sent) : forOthers(request, sent);
}

/** Ours, and what a server needs that stores nothing. `instructions` are a message by now. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(RoutingFields),
  ...DROPPED_FIELDS,
  'input',
  'instructions',
  'previous_response_id',
  'store',
  'background',
  'stream',
  'stream_options',
  'memory',
  'strict',
  'timeout',
]);

/** Everything as the client wrote it, for an upstream of the same API. */
function asWritten(request: ChatRequest, { value, isSearched }: Sent): ChatRequest {
  const extra = Object.fromEntries(
    Object.entries(value).filter(([name, given]) => given !== null && !OWN_FIELDS.has(name)),
  );
  const { tools } = extra;
  if (!isSearched || !Array.isArray(tools)) return { ...request, extra };
  const left = tools.filter(({ type }: Json) => !isWebSearch(type));
  const { tools: _, tool_choice: choice, ...others } = extra;
  // A choice of what is no longer there, or among nothing, is an error.
  const isChosen = typeof choice === 'object' && isWebSearch((choice as Json)['type']);
  const kept = choice === undefined || isChosen || left.length === 0 ? {} : { tool_choice: choice };
  return { ...request, extra: { ...others, ...(left.length === 0 ? {} : { tools: left }), ...kept } };
}

/** Without what only an upstream of this API understands, which is named instead. */
function forOthers(request: ChatRequest, { body, extra, foreign }: Sent): ChatRequest {
  if (body['prompt'] != null) throw unknownPrompt();
  const messages = request.messages.flatMap(readable);
  if (messages.length === 0) throw unreadableInput();
  return { ...request, messages, extra: { ...extra, ...Object.fromEntries(foreign.map((name) => [name, true])) } };
}

/** A message without what was attached to it for upstreams of this API; nothing where that was all. */
export function readable(message: Message): readonly Message[] {
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user': {
      const content = readableParts(message.content);
      return content.length === 0 && message.content.length > 0 ? [] : [{ ...message, content }];
    }
    case 'assistant': {
      const { vendor: _, ...rest } = message;
      const content = readableParts(message.content);
      return content.length === 0 && message.toolCalls === undefined ? [] : [{ ...rest, content }];
    }
    case 'tool': {
      const { vendor: _, ...rest } = message;
      return [{ ...rest, content: readableParts(message.content) }];
    }
  }
}

function readableParts(content: readonly Part[]): readonly Part[] {
  return content.flatMap((part): readonly Part[] => {
    if (part.vendor?.['openai'] === undefined) return [part];
    const { part: own, fields, isInstructions } = part.vendor['openai'];
    if (own !== undefined) return [];
    if (fields === undefined && isInstructions === undefined) return [part];
    const { vendor: _, ...said } = part;
    return [said];
  });
}

/** No message is left that the model could answer. */
export function missingInput(input: ResponseBody['input']): SluiceError {
  const isEmpty = input === '' || (Array.isArray(input) && input.length === 0);
  const isThere = input !== undefined && input !== null;
  const fault = isEmpty ? 'must not be empty' : isThere ? 'must have an item with content' : 'is required';
  return new SluiceError('invalid_field', `'input' ${fault}: a text, or items.`, { param: 'input' });
}

/** Something was sent, of which only an upstream of this API might know what it is. */
function unreadableInput(): SluiceError {
  const message =
    "'input' has nothing in it that this provider understands: send a text, or messages with text or media.";
  return new SluiceError('invalid_field', message, { param: 'input' });
}

/** What no answer could make up for, so that leaving it out would be no help. */
export function unknownPrompt(): SluiceError {
  return new SluiceError(
    'unsupported_field',
    "'prompt' is kept at OpenAI and unknown here: send its text as instructions and input.",
    { param: 'prompt' },
  );
}
