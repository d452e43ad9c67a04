import { firstSaid, isObject, membersOf, parseObject, textOf } from '../../core/objects.ts';
import { toolCallId } from '../openai/ids.ts';
import { numbers } from './numbers.ts';

type Json = Record<string, unknown>;

/** A piece of text as Anthropic writes it: most events are one, and nothing is missing. */
const USUAL_PIECE = /^\{"type": ?"content_block_delta", ?"index": ?\d+, ?"delta": ?\{"type": ?"\w+", ?"\w+": ?"/;

/** All events that Anthropic's streams have. */
const EVENTS: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
]);

/** The member that holds the text of a block, or of a piece of it. */
const TEXTS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
  ['input_json_delta', 'partial_json'],
]);

/** Says that somebody did not count: nobody believes such a number, and the vendor's library insists on one. */
const UNCOUNTED = -1;

/**
 * The events of one message, as JSON texts, with what Anthropic's library insists on. Many others serve this API (Kimi, GLM, DeepSeek,
 * MiniMax, proxies), and leave out or write otherwise what no answer needs.
 */
export class Mending {
  #isEnding = false;
  #hasReason = false;
  #isOver = false;

  mend(data: string): string | readonly string[] | undefined {
    if (USUAL_PIECE.test(data)) return data;
    const event = parseObject(data);
    if (event === undefined) return undefined;
    const usual = asUsual(event);
    const mended = usual === event ? data : JSON.stringify(usual);
    switch (event['type']) {
      case 'message_delta':
        this.#isEnding = true;
        this.#hasReason ||= saysReason(event);
        return mended;
      case 'message_stop':
        this.#isOver = true;
        return this.#isEnding ? mended : [JSON.stringify(asUsual({ type: 'message_delta' })), mended];
      default:
        return mended;
    }
  }

  /** What is missing behind the last event: a message that has told its reason is over. */
  end(): readonly string[] {
    return this.#hasReason && !this.#isOver ? [JSON.stringify({ type: 'message_stop' })] : [];
  }
}

/** Whether a `message_delta` tells why the message ends. */
export function saysReason({ delta }: Json): boolean {
  return textOf(membersOf(delta)['stop_reason']) !== '';
}

function asUsual(event: Json): Json {
  const { type } = event;
  switch (type) {
    case 'message_start': {
      const { usage, content, ...message } = membersOf(event['message']);
      const calls = Array.isArray(content) ? content.filter((block) => membersOf(block)['type'] === 'tool_use') : [];
      return { type, message: { ...texts(message), usage: counted(usage, ['input_tokens']), content: calls } };
    }
    case 'content_block_start':
      return { type, index: indexOf(event), content_block: block(membersOf(event['content_block'])) };
    case 'content_block_delta': {
      const index = indexOf(event);
      const delta = withText(membersOf(event['delta']));
      return index === event['index'] && delta === event['delta'] ? event : { ...event, index, delta };
    }
    case 'content_block_stop':
      return { type, index: indexOf(event) };
    case 'message_delta': {
      const delta = membersOf(event['delta']);
      const usage = counted(event['usage'], ['output_tokens']);
      return { ...event, delta: { ...delta, stop_reason: stopReasonOf(delta) }, usage };
    }
    default:
      if (type === 'error' || isFailure(event)) return { type: 'error', error: failureIn(event) };
      // An event that the library has never heard of is a failure to it where it comes first.
      return typeof type === 'string' && !EVENTS.has(type) ? { type: 'ping' } : event;
  }
}

/** Whether an event without a name tells of a failure. */
export function isFailure({ type, error }: Json): boolean {
  return type === undefined && (isObject(error) || typeof error === 'string');
}

/** What an event says of a failure, in Anthropic's form: some write the words alone, or beside the type. */
export function failureIn(event: Json): Json {
  const { error } = event;
  const { type, message, code, status_code: status } = { ...event, ...membersOf(error) };
  const said = firstSaid([error, message]);
  const number = [status, code].map(Number).find((each) => each >= 400 && each < 600);
  return {
    type: typeof type === 'string' && type !== 'error' ? type : 'api_error',
    message: said ?? 'The provider reported an error without an explanation.',
    ...(number === undefined ? {} : { statusCode: number }),
  };
}

/** The end of a message without a reason is one like any other. */
export function stopReasonOf({ stop_reason: reason, stop_sequence: sequence }: Json, hasCalls = false): string {
  if (typeof reason === 'string' && reason !== '') return reason;
  if (hasCalls) return 'tool_use';
  return typeof sequence === 'string' ? 'stop_sequence' : 'end_turn';
}

/** The id of a call: clients answer it by that. */
export function callId({ id }: Json): string {
  return typeof id === 'string' && id !== '' ? id : toolCallId();
}

function counted(usage: unknown, needed: readonly string[]): Json {
  const counts = numbers(usage);
  for (const name of [...needed, ...COUNTS]) {
    if (counts[name] == null || typeof counts[name] === 'number') continue;
    delete counts[name];
  }
  for (const name of needed) counts[name] ??= UNCOUNTED;
  return counts;
}

const COUNTS = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];

/** Names of the message are texts, or are not told. */
function texts(message: Json): Json {
  const isSound = ([name, value]: [string, unknown]): boolean => !NAMES.has(name) || typeof value === 'string';
  return Object.fromEntries(Object.entries(message).filter(isSound));
}

const NAMES: ReadonlySet<string> = new Set(['id', 'model', 'role', 'service_tier', 'stop_reason']);

function indexOf({ index }: Json): number {
  const number = Number(index ?? 0);
  return Number.isInteger(number) ? number : 0;
}

function block(sent: Json): Json {
  if (sent['type'] !== 'tool_use') return withText(sent);
  const { input, ...call } = sent;
  return { ...call, id: callId(sent), name: textOf(call['name']), ...(isObject(input) ? { input } : {}) };
}

function withText(holder: Json): Json {
  const member = TEXTS.get(holder['type']);
  return member === undefined || holder[member] != null ? holder : { ...holder, [member]: '' };
}
