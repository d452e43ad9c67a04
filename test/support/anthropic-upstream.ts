import { finishOf, usageOf, type VendorAnswer, type VendorScript } from './vendor-script.ts';
import {
  elements,
  member,
  startVendorServer,
  type VendorFormat,
  type VendorStream,
  type VendorUpstream,
} from './vendor-server.ts';

/** An upstream that speaks Anthropic's Messages API (`anthropic-version: 2023-06-01`). */
export function startAnthropicUpstream(script: VendorScript): Promise<VendorUpstream> {
  return startVendorServer(format, script, '/v1');
}

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
} as const;

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const format: VendorFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  read(body) {
    const messages = elements(member(body, 'messages'));
    const blocks = messages.flatMap((message) => {
      const content = member(message, 'content');
      return typeof content === 'string' ? [{ type: 'text', text: content }] : elements(content);
    });
    // A tool's result is text or blocks of its own.
    const flat = blocks.flatMap((block) => {
      const content = member(block, 'content');
      if (member(block, 'type') !== 'tool_result') return [block];
      return typeof content === 'string' ? [{ type: 'text', text: content }] : elements(content);
    });
    return {
      model: String(member(body, 'model') ?? ''),
      stream: member(body, 'stream') === true,
      prompt: String(member(flat.filter((block) => member(block, 'type') === 'text').at(-1), 'text') ?? ''),
      images: flat.filter((block) => member(block, 'type') === 'image').length,
      tools: elements(member(body, 'tools')).map((tool) => String(member(tool, 'name'))),
    };
  },
  open: (answer, request) => new MessageStream(answer, request.model),
  whole(answer, request) {
    const usage = usageFields(answer);
    return JSON.stringify({
      id: 'msg_scripted',
      type: 'message',
      role: 'assistant',
      model: request.model,
      content: [
        ...(answer.reasoning
          ? [{ type: 'thinking', thinking: [...answer.reasoning].join(''), signature: 'c2ln' }]
          : []),
        ...(answer.text ? [{ type: 'text', text: [...answer.text].join('') }] : []),
        ...(answer.toolCalls ?? []).map(({ id, name, arguments: fragments }) => ({
          type: 'tool_use',
          id,
          name,
          input: JSON.parse(fragments.join('') || '{}'),
        })),
      ],
      stop_reason: STOP_REASONS[finishOf(answer)],
      stop_sequence: null,
      usage: { ...usage.input, ...usage.output },
    });
  },
  failure: (status, message) =>
    JSON.stringify({
      type: 'error',
      error: { type: ERROR_TYPES[status] ?? 'api_error', message },
      request_id: 'req_1',
    }),
  models: {
    data: [
      {
        type: 'model',
        id: 'claude-sonnet-4-5',
        display_name: 'Claude Sonnet 4.5',
        created_at: '2025-09-29T00:00:00Z',
        max_input_tokens: 200_000,
        max_tokens: 64_000,
        capabilities: {
          batch: { supported: true },
          citations: { supported: true },
          image_input: { supported: true },
          thinking: { supported: true, types: { enabled: { supported: true }, disabled: { supported: true } } },
        },
      },
      {
        type: 'model',
        id: 'claude-3-haiku-20240307',
        display_name: 'Claude Haiku 3',
        created_at: '2024-03-07T00:00:00Z',
      },
    ],
    has_more: false,
    first_id: 'claude-sonnet-4-5',
    last_id: 'claude-3-haiku-20240307',
  },
};

class MessageStream implements VendorStream {
  readonly #answer: VendorAnswer;
  readonly #model: string;
  #index = -1;
  #open = '';

  constructor(answer: VendorAnswer, model: string) {
    this.#answer = answer;
    this.#model = model;
  }

  start(): string {
    const usage = { ...usageFields(this.#answer).input, output_tokens: 1 };
    const message = { id: 'msg_scripted', type: 'message', role: 'assistant', model: this.#model, content: [] };
    return (
      event('message_start', { message: { ...message, stop_reason: null, stop_sequence: null, usage } }) +
      event('ping', {})
    );
  }

  piece(piece: Parameters<VendorStream['piece']>[0]): string {
    switch (piece.kind) {
      case 'reasoning':
        return (
          this.#block('thinking', { type: 'thinking', thinking: '', signature: '' }) +
          this.#delta({ type: 'thinking_delta', thinking: piece.text })
        );
      case 'text':
        return this.#block('text', { type: 'text', text: '' }) + this.#delta({ type: 'text_delta', text: piece.text });
      case 'image':
        throw new Error('the Messages API answers without images');
      case 'tool': {
        const { id, name } = piece.call;
        const start = this.#block(`tool ${piece.index}`, { type: 'tool_use', id, name, input: {} });
        return start + this.#delta({ type: 'input_json_delta', partial_json: piece.fragment });
      }
    }
  }

  end(): string {
    const stop_reason = STOP_REASONS[finishOf(this.#answer)];
    const { output } = usageFields(this.#answer);
    return (
      this.#close() +
      event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: output }) +
      event('message_stop', {})
    );
  }

  fault(message: string): string {
    return event('error', { error: { type: 'overloaded_error', message } });
  }

  #block(name: string, content_block: object): string {
    if (this.#open === name) return '';
    const closing = this.#close();
    this.#open = name;
    this.#index += 1;
    return closing + event('content_block_start', { index: this.#index, content_block });
  }

  #close(): string {
    if (this.#open === '') return '';
    const signature =
      this.#open === 'thinking' ? this.#delta({ type: 'signature_delta', signature: `sig-${this.#index}` }) : '';
    this.#open = '';
    return signature + event('content_block_stop', { index: this.#index });
  }

  #delta(delta: object): string {
    return event('content_block_delta', { index: this.#index, delta });
  }
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** Anthropic counts cached tokens beside the others, not among them. */
function usageFields(answer: VendorAnswer): { input: object; output: object } {
  const { prompt, completion, cached = 0, written = 0, reasoning } = usageOf(answer);
  return {
    input: {
      input_tokens: prompt - cached - written,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: written,
    },
    output: {
      output_tokens: completion,
      ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
    },
  };
}
