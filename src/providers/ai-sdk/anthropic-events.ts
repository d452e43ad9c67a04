import { answeredAs } from '../../core/answered-as.ts';
import type { AnsweredAs, Chunk, FinishReason, Usage } from '../../core/chunk.ts';
import { membersOf, parseObject, present, textOf, wordsOf } from '../../core/objects.ts';
import { tokenCount } from '../../core/usage.ts';
import { callId, failureIn, isFailure, saysReason, stopReasonOf } from './anthropic-mend.ts';
import { type Speaker, streamFailure } from './failure.ts';
import { numbers } from './numbers.ts';

type Json = Record<string, unknown>;

/** What is gathered of a block until it stops. */
interface OpenBlock {
  readonly block: Json;
  /** Of a tool call: its place among all calls. */
  readonly call?: number;
  readonly citations: unknown[];
  json: string;
}

/**
 * Events of Anthropic's stream → chunks, for Anthropic's own clients: blocks that nobody else knows go through as they are,
 * in `vendor.anthropic.block`, and what the API says of the message in `vendor.anthropic.message`, both on empty text.
 */
export class MessageEvents {
  readonly #speaker: Speaker;
  readonly #blocks = new Map<unknown, OpenBlock>();
  #calls = 0;
  #usage: Json = {};
  /** What comes with the end of the message. */
  #end: Json = {};
  #named: { readonly answeredAs?: AnsweredAs } = {};
  #isEnding = false;
  finished = false;

  constructor(speaker: Speaker) {
    this.#speaker = speaker;
  }

  /** Adds the chunks of one event to `batch`. Throws when it tells of a failure. */
  translate(event: Json, batch: Chunk[]): void {
    switch (event['type']) {
      case 'message_start': {
        const { content: _, usage, ...message } = membersOf(event['message']);
        this.#usage = numbers(usage);
        this.#named = answeredAs(message['id'], message['model']);
        batch.push(empty({ message: { ...message, ...counted(this.#usage) } }));
        break;
      }
      case 'content_block_start':
        this.#start(event['index'], membersOf(event['content_block']), batch);
        break;
      case 'content_block_delta':
        this.#continue(event['index'], membersOf(event['delta']), batch);
        break;
      case 'content_block_stop':
        this.#stop(event['index'], batch);
        break;
      case 'message_delta': {
        const { type: _, delta, usage, ...further } = event;
        // Counters are of the whole message; those that do not apply are left out.
        this.#usage = { ...this.#usage, ...present(numbers(usage)) };
        const said = membersOf(delta);
        this.#isEnding ||= saysReason(event);
        this.#end = { ...this.#end, ...said, stop_reason: stopReasonOf(said, this.#calls > 0), ...further };
        break;
      }
      case 'message_stop':
        this.#finish(batch);
        break;
      case 'error':
        throw streamFailure(this.#speaker, toFailure(failureIn(event)));
      default:
        if (isFailure(event)) throw streamFailure(this.#speaker, toFailure(failureIn(event)));
        // `ping`, and what may come one day.
        break;
    }
  }

  /** A message is over with its reason, although others than Anthropic may not say so once more. */
  end(batch: Chunk[]): void {
    if (this.#isEnding) this.#finish(batch);
  }

  #start(index: unknown, block: Json, batch: Chunk[]): void {
    const { type, text, thinking, id: _, name, input, ...further } = block;
    if (type === 'tool_use') {
      const call = this.#calls;
      this.#calls += 1;
      const json = isEmpty(input) ? '' : JSON.stringify(input);
      this.#blocks.set(index, { block, call, citations: [], json });
      const vendor = Object.keys(further).length === 0 ? {} : { vendor: { anthropic: { fields: further } } };
      batch.push({
        type: 'tool_call',
        tool_call: { index: call, id: callId(block), name: textOf(name), arguments: json, ...vendor },
      });
      return;
    }
    this.#blocks.set(index, { block: { ...block }, citations: [], json: '' });
    if (type === 'text' && typeof text === 'string' && text !== '') batch.push({ type: 'content', content: text });
    if (type === 'thinking' && typeof thinking === 'string' && thinking !== '') {
      batch.push({ type: 'reasoning', reasoning: thinking });
    }
  }

  #continue(index: unknown, delta: Json, batch: Chunk[]): void {
    const open = this.#blocks.get(index);
    if (open === undefined) return;
    const { type, text, thinking, signature, partial_json: json, citation } = delta;
    switch (type) {
      case 'text_delta':
        if (typeof text === 'string' && text !== '') batch.push({ type: 'content', content: text });
        break;
      case 'thinking_delta':
        if (typeof thinking === 'string' && thinking !== '') batch.push({ type: 'reasoning', reasoning: thinking });
        break;
      case 'signature_delta':
        open.block['signature'] = signature;
        break;
      case 'citations_delta':
        open.citations.push(citation);
        break;
      case 'input_json_delta':
        if (typeof json !== 'string' || json === '') break;
        open.json += json;
        if (open.call !== undefined) {
          batch.push({ type: 'tool_call', tool_call: { index: open.call, arguments: json } });
        }
        break;
      default:
        // Of kinds of blocks that are not known here: text grows, everything else takes the place of what was there.
        for (const [name, value] of Object.entries(delta)) {
          if (name === 'type') continue;
          const before = open.block[name];
          open.block[name] = typeof value === 'string' && typeof before === 'string' ? before + value : value;
        }
    }
  }

  #stop(index: unknown, batch: Chunk[]): void {
    const open = this.#blocks.get(index);
    if (open === undefined) return;
    this.#blocks.delete(index);
    const { block, call, citations, json } = open;
    switch (block['type']) {
      case 'text':
        batch.push(empty(citations.length === 0 ? {} : { fields: { citations } }));
        break;
      case 'thinking': {
        const { signature } = block;
        const vendor = { anthropic: typeof signature === 'string' ? { signature } : {} };
        batch.push({ type: 'reasoning', reasoning: '', vendor });
        break;
      }
      case 'redacted_thinking':
        batch.push({ type: 'reasoning', reasoning: '', vendor: { anthropic: { redactedData: block['data'] } } });
        break;
      case 'tool_use':
        if (call !== undefined && json === '') {
          batch.push({ type: 'tool_call', tool_call: { index: call, arguments: '{}' } });
        }
        break;
      default:
        batch.push(empty({ block: json === '' ? block : { ...block, input: parseObject(json) ?? {} } }));
    }
  }

  #finish(batch: Chunk[]): void {
    for (const index of this.#blocks.keys()) this.#stop(index, batch);
    const reason = stopReasonOf(this.#end, this.#calls > 0);
    const { stop_sequence: stopSequence } = this.#end;
    this.#end['stop_reason'] = reason;
    batch.push(empty({ message: { ...this.#end, ...counted(this.#usage) } }));
    if (counts(this.#usage)) batch.push({ type: 'usage', usage: toUsage(this.#usage) });
    batch.push({
      type: 'finish',
      finish: toFinish(reason),
      ...(typeof stopSequence === 'string' ? { stopSequence } : {}),
      ...this.#named,
    });
    this.finished = true;
  }
}

function empty(anthropic: Json): Chunk {
  return { type: 'content', content: '', vendor: { anthropic } };
}

function toFinish(reason: string): FinishReason {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      return 'stop';
    case 'max_tokens':
      return 'length';
    case 'tool_use':
      return 'tool_calls';
    case 'refusal':
      return 'content_filter';
    default:
      return reason;
  }
}

/** Others that speak this format may not count. */
function counts(usage: Json): boolean {
  return ['input_tokens', 'output_tokens'].some((name) => tokenCount(usage[name]) !== undefined);
}

function counted(usage: Json): { readonly usage?: Json } {
  return counts(usage) ? { usage } : {};
}

/** Anthropic counts cached tokens beside the others, not among them. */
function toUsage(usage: Json): Usage {
  const cachedTokens = tokenCount(usage['cache_read_input_tokens']);
  const cacheWriteTokens = tokenCount(usage['cache_creation_input_tokens']);
  const promptTokens = (tokenCount(usage['input_tokens']) ?? 0) + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0);
  const completionTokens = tokenCount(usage['output_tokens']) ?? 0;
  const reasoningTokens = tokenCount(membersOf(usage['output_tokens_details'])['thinking_tokens']);
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}

/** https://platform.claude.com/docs/en/api/errors */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

function toFailure({ type, message, statusCode }: Json): Json {
  return { message, statusCode: statusCode ?? STATUSES[wordsOf(type)] ?? 500 };
}

function isEmpty(input: unknown): boolean {
  return Object.keys(membersOf(input)).length === 0;
}
