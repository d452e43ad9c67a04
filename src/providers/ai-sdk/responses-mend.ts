import { firstSaid, isObject, membersOf, parseObject, textOf } from '../../core/objects.ts';
import { numbers } from './numbers.ts';

type Json = Record<string, unknown>;

/** Pieces of a text that have all that the library wants: most events. */
const PIECE = /"type": ?"response\.(?:output_text|refusal|reasoning_text|function_call_arguments)\.delta"/;
const PLACED = /"item_id": ?".*"output_index": ?\d|"output_index": ?\d.*"item_id": ?"/;

/** The name of a citation without all its members: only `responses-stream.ts` reads it. */
export const LOOSE_ANNOTATION = 'sluice.annotation';

/**
 * An event, as JSON text, with what OpenAI's library insists on. Others that serve this API (vLLM, LiteLLM, LM Studio, Ollama,
 * proxies) leave out what no answer needs.
 */
export function mended(data: string): string | undefined {
  if (PIECE.test(data) && PLACED.test(data)) return data;
  const event = parseObject(data);
  return event && JSON.stringify(asUsual(event));
}

function asUsual(event: Json): Json {
  const type = textOf(event['type']);
  switch (type) {
    case 'response.created':
    case 'response.in_progress': {
      const { id, created_at: at, model } = membersOf(event['response']);
      return { type, response: { id: textOf(id), created_at: Number(at) || 0, model: textOf(model) } };
    }
    case 'response.output_item.added':
    case 'response.output_item.done':
      return { ...event, output_index: indexOf(event, 'output_index'), item: itemOf(event) };
    case 'response.output_text.annotation.added':
      return isWhole(membersOf(event['annotation'])) ? event : { ...event, type: LOOSE_ANNOTATION };
    case 'response.completed':
    case 'response.incomplete':
      return { ...event, response: ended(membersOf(event['response'])) };
    case 'response.failed': {
      const { error, ...response } = ended(membersOf(event['response']));
      return { ...event, sequence_number: 0, response: { ...response, error: failureOf(membersOf(error)) } };
    }
    case 'response.function_call_arguments.done':
      return { ...placed(event), arguments: textOf(event['arguments']) };
    case 'response.refusal.done':
      return { ...placed(event), refusal: textOf(event['refusal']) };
    case 'response.reasoning_summary_part.added':
    case 'response.reasoning_summary_part.done':
      return placed(event);
    default:
      if (type === 'error' || (type === '' && (isObject(event['error']) || typeof event['error'] === 'string'))) {
        const said = typeof event['error'] === 'string' ? { message: event['error'] } : membersOf(event['error']);
        return { type: 'error', sequence_number: 0, ...failureOf({ ...event, ...said }) };
      }
      return type.endsWith('.delta') ? { ...placed(event), delta: event['delta'] ?? '' } : event;
  }
}

function placed(event: Json): Json {
  const index = indexOf(event, 'output_index');
  return {
    ...event,
    item_id: textOf(event['item_id']) || `item_${index}`,
    output_index: index,
    ...(textOf(event['type']).includes('summary') ? { summary_index: indexOf(event, 'summary_index') } : {}),
  };
}

function indexOf(event: Json, name: string): number {
  const index = Number(event[name] ?? 0);
  return Number.isInteger(index) ? index : 0;
}

function itemOf(event: Json): Json {
  const item = membersOf(event['item']);
  const id = textOf(item['id']) || `item_${indexOf(event, 'output_index')}`;
  const isCall = item['type'] === 'function_call' || item['type'] === 'custom_tool_call';
  if (!isCall) return { ...item, id };
  const written = item['type'] === 'function_call' ? 'arguments' : 'input';
  const given = item[written] ?? '';
  return {
    ...item,
    id,
    call_id: textOf(item['call_id']) || id,
    [written]: typeof given === 'string' ? given : JSON.stringify(given),
    // Of one that is under way nothing is asked.
    status: STATES.has(item['status']) ? item['status'] : 'completed',
  };
}

const STATES: ReadonlySet<unknown> = new Set(['in_progress', 'completed', 'incomplete']);

function isWhole(annotation: Json): boolean {
  const { type, url, title, start_index: start, end_index: end } = annotation;
  if (type !== 'url_citation') return true;
  return [url, title].every((each) => typeof each === 'string') && [start, end].every(Number.isFinite);
}

/** What is said at the end of an answer, without what cannot be read of it. */
function ended({ usage, incomplete_details: details, service_tier: tier, ...response }: Json): Json {
  const counts = numbers(usage);
  const isCounted = [counts['input_tokens'], counts['output_tokens']].every((count) => typeof count === 'number');
  return {
    ...response,
    ...(typeof tier === 'string' ? { service_tier: tier } : {}),
    usage: isCounted ? counts : null,
    incomplete_details: typeof membersOf(details)['reason'] === 'string' ? details : null,
  };
}

function failureOf({ code, message }: Json): Json {
  return {
    code: typeof code === 'string' ? code : null,
    message: firstSaid([message]) ?? 'The provider reported an error without an explanation.',
  };
}
