import { answeredAs } from '../../core/answered-as.ts';
import type { Chunk, FinishReason, Usage } from '../../core/chunk.ts';
import { membersOf, textOf } from '../../core/objects.ts';
import { asArguments, FREEFORM_END, FREEFORM_OPENING, modelName, withinQuotes } from '../../core/tool-names.ts';
import { tokenCount } from '../../core/usage.ts';
import { type Speaker, streamFailure } from './failure.ts';

type Json = Record<string, unknown>;

/** A call of a tool of the client's that is being made. */
interface OpenCall {
  /** Its place among all calls. */
  readonly index: number;
  readonly isFreeform: boolean;
  hasArguments: boolean;
}

/**
 * Events of OpenAI's stream → chunks, for clients of the same API: texts, thoughts and calls as for everybody, what else is said of
 * items as `item` chunks.
 */
export class ResponseEvents {
  readonly #speaker: Speaker;
  /** By the id of its item. */
  readonly #calls = new Map<unknown, OpenCall>();
  /** UTF-16 units of all text so far, and where its present part begins. */
  #length = 0;
  #partStart = 0;
  finished = false;

  constructor(speaker: Speaker) {
    this.#speaker = speaker;
  }

  /** Adds the chunks of one event to `batch`. Throws when it tells of a failure. */
  translate(event: Json, batch: Chunk[]): void {
    const delta = textOf(event['delta']);
    const type = textOf(event['type']);
    switch (type) {
      case 'response.output_text.delta':
        this.#length += delta.length;
        if (delta !== '') batch.push({ type: 'content', content: delta });
        break;
      case 'response.refusal.delta':
        if (delta !== '') batch.push({ type: 'refusal', refusal: delta });
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        if (delta !== '') batch.push({ type: 'reasoning', reasoning: delta });
        break;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#continue(this.#calls.get(event['item_id']), delta, batch);
        break;
      case 'response.output_item.added':
        this.#begin(event, membersOf(event['item']), batch);
        break;
      case 'response.output_item.done':
        this.#end(event, membersOf(event['item']), batch);
        break;
      case 'response.content_part.added':
        this.#partStart = this.#length;
        break;
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.added':
        batch.push(itemChunk(event));
        break;
      case 'response.output_text.annotation.added':
        batch.push(this.#annotation(event));
        break;
      case 'response.completed':
      case 'response.incomplete':
        this.#finish(membersOf(event['response']), batch);
        break;
      case 'response.failed':
        throw streamFailure(this.#speaker, toFailure(membersOf(membersOf(event['response'])['error'])));
      case 'error':
        // Some servers wrap it as in an error status.
        throw streamFailure(this.#speaker, toFailure({ ...event, ...membersOf(event['error']) }));
      default:
        // Of texts, thoughts and calls nothing else is news; of tools that run there all is.
        if (typeof event['item_id'] === 'string' && EVENT_NAME.test(type) && !OWN_EVENT.test(type)) {
          batch.push(itemChunk(event, true));
        }
    }
  }

  #begin(event: Json, item: Json, batch: Chunk[]): void {
    const { type, id, call_id: callId, name, namespace } = item;
    switch (type) {
      case 'message':
        batch.push(itemChunk(event));
        break;
      case 'reasoning':
        break;
      case 'function_call':
      case 'custom_tool_call': {
        const isFreeform = type === 'custom_tool_call';
        const call: OpenCall = { index: this.#calls.size, isFreeform, hasArguments: false };
        this.#calls.set(id, call);
        const named = { id: textOf(callId), name: modelName(textOf(name), namespace) };
        const opening = isFreeform ? FREEFORM_OPENING : '';
        batch.push({ type: 'tool_call', tool_call: { index: call.index, ...named, arguments: opening } });
        break;
      }
      default:
        batch.push(itemChunk(event, true));
    }
  }

  #continue(call: OpenCall | undefined, delta: string, batch: Chunk[]): void {
    if (call === undefined || delta === '') return;
    call.hasArguments = true;
    const written = call.isFreeform ? withinQuotes(delta) : delta;
    batch.push({ type: 'tool_call', tool_call: { index: call.index, arguments: written } });
  }

  #end(event: Json, item: Json, batch: Chunk[]): void {
    switch (item['type']) {
      case 'message':
        batch.push(itemChunk(event));
        break;
      case 'reasoning': {
        const { id, encrypted_content: encrypted } = item;
        const sealed = typeof encrypted === 'string' ? { reasoningEncryptedContent: encrypted } : {};
        batch.push({ type: 'reasoning', reasoning: '', vendor: { openai: { itemId: id, ...sealed } } });
        break;
      }
      case 'function_call':
      case 'custom_tool_call': {
        const call = this.#calls.get(item['id']);
        if (call === undefined) break;
        const { index, isFreeform, hasArguments } = call;
        const whole = textOf(item[isFreeform ? 'input' : 'arguments']);
        // Some send a short call at once.
        const rest = hasArguments ? '' : isFreeform ? asArguments(whole).slice(FREEFORM_OPENING.length) : whole;
        const end = isFreeform && hasArguments ? FREEFORM_END : '';
        if (rest + end !== '') batch.push({ type: 'tool_call', tool_call: { index, arguments: rest + end } });
        break;
      }
      default:
        batch.push(itemChunk(event, true));
    }
  }

  /** A citation of a page is a source, which others understand too. */
  #annotation(event: Json): Chunk {
    const { type, url, title, start_index: start, end_index: end } = membersOf(event['annotation']);
    if (type !== 'url_citation' || typeof url !== 'string') return itemChunk(event);
    const isPlaced = typeof start === 'number' && typeof end === 'number';
    return {
      type: 'source',
      source: {
        url,
        ...(typeof title === 'string' ? { title } : {}),
        ...(isPlaced ? { start: this.#partStart + start, end: this.#partStart + end } : {}),
      },
    };
  }

  #finish(response: Json, batch: Chunk[]): void {
    const { incomplete_details: details, service_tier: tier } = response;
    const { reason } = membersOf(details);
    const usage = membersOf(response['usage']);
    if (tokenCount(usage['input_tokens']) !== undefined) batch.push({ type: 'usage', usage: toUsage(usage) });
    const isIncomplete = response['status'] === 'incomplete' && typeof reason === 'string';
    batch.push({
      type: 'finish',
      finish: isIncomplete ? toFinish(reason) : this.#calls.size > 0 ? 'tool_calls' : 'stop',
      ...(typeof tier === 'string' ? { serviceTier: tier } : {}),
      ...answeredAs(response['id'], response['model']),
    });
    this.finished = true;
  }
}

/** What may be the name of an event: it goes into a line of the client's stream. */
const EVENT_NAME = /^response\.[a-z][a-z0-9_.]{0,99}$/;

/** The ends of what came piece by piece. */
const OWN_EVENT = /^response\.(?:output_text|refusal|reasoning\w*|function_call_arguments|custom_tool_call_input)\./;

function itemChunk(event: Json, isWork = false): Chunk {
  return { type: 'item', item: { event, isWork } };
}

function toFinish(reason: string): FinishReason {
  return reason === 'max_output_tokens' ? 'length' : reason;
}

/** What an answer cost. */
export function toUsage(usage: Json): Usage {
  const promptTokens = tokenCount(usage['input_tokens']) ?? 0;
  const completionTokens = tokenCount(usage['output_tokens']) ?? 0;
  const details = membersOf(usage['input_tokens_details']);
  const cachedTokens = tokenCount(details['cached_tokens']);
  const cacheWriteTokens = tokenCount(details['cache_write_tokens']);
  const reasoningTokens = tokenCount(membersOf(usage['output_tokens_details'])['reasoning_tokens']);
  return {
    promptTokens,
    completionTokens,
    totalTokens: tokenCount(usage['total_tokens']) ?? promptTokens + completionTokens,
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}

/** The words for machines in a stream (https://platform.openai.com/docs/guides/error-codes), as statuses. */
const STATUSES: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  server_is_overloaded: 503,
  slow_down: 503,
  invalid_prompt: 400,
  context_length_exceeded: 400,
};

function toFailure({ code, message }: Json): Json {
  return { message, statusCode: STATUSES[textOf(code)] ?? 500 };
}
