import { finishOf, usageOf, type VendorAnswer, type VendorPiece, type VendorScript } from './vendor-script.ts';
import {
  elements,
  member,
  startVendorServer,
  type VendorFormat,
  type VendorStream,
  type VendorUpstream,
} from './vendor-server.ts';

/**
 * An upstream that speaks OpenAI's Responses API
 * (https://platform.openai.com/docs/api-reference/responses-streaming).
 */
export function startResponsesUpstream(script: VendorScript): Promise<VendorUpstream> {
  return startVendorServer(format, script, '/v1');
}

const INCOMPLETE: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' };

const format: VendorFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  read(body) {
    const items = elements(member(body, 'input'));
    const parts = items.flatMap((item) => {
      const content = member(item, 'content') ?? member(item, 'output');
      return typeof content === 'string' ? [{ type: 'input_text', text: content }] : elements(content);
    });
    return {
      model: String(member(body, 'model') ?? ''),
      stream: member(body, 'stream') === true,
      prompt: String(member(parts.filter((part) => member(part, 'text') !== undefined).at(-1), 'text') ?? ''),
      images: parts.filter((part) => member(part, 'type') === 'input_image').length,
      tools: elements(member(body, 'tools')).map((tool) => String(member(tool, 'name'))),
    };
  },
  open: (answer, request) => new EventStream(answer, request.model, request.body),
  whole: () => {
    throw new Error('this upstream only streams');
  },
  failure: (status, message) =>
    JSON.stringify({
      error: { message, type: status >= 500 ? 'server_error' : 'invalid_request_error', param: null, code: null },
    }),
  models: {
    object: 'list',
    data: [
      { id: 'gpt-5.2', object: 'model', created: 1_765_000_000, owned_by: 'system' },
      { id: 'text-embedding-3-small', object: 'model', created: 1_705_948_997, owned_by: 'system' },
    ],
  },
};

type Json = Record<string, unknown>;

class EventStream implements VendorStream {
  readonly #answer: VendorAnswer;
  readonly #head: Json;
  readonly #encrypts: boolean;
  readonly #output: Json[] = [];
  #sequence = 0;
  #open: { readonly name: string; readonly item: Json; text: string } | undefined;

  constructor(answer: VendorAnswer, model: string, body: unknown) {
    this.#answer = answer;
    this.#encrypts = elements(member(body, 'include')).includes('reasoning.encrypted_content');
    this.#head = {
      id: 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
      object: 'response',
      created_at: 1_741_476_542,
      background: false,
      error: null,
      instructions: null,
      max_output_tokens: member(body, 'max_output_tokens') ?? null,
      metadata: {},
      model,
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      service_tier: 'default',
      store: member(body, 'store') ?? true,
      temperature: 1,
      text: { format: { type: 'text' }, verbosity: 'medium' },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      user: null,
    };
  }

  start(): string {
    const response = { ...this.#head, status: 'in_progress', incomplete_details: null, output: [], usage: null };
    return this.#event('response.created', { response }) + this.#event('response.in_progress', { response });
  }

  piece(piece: VendorPiece): string {
    switch (piece.kind) {
      case 'reasoning':
        return this.#reasoning(piece.text);
      case 'text':
        return this.#text(piece.text);
      case 'tool':
        return this.#tool(piece);
      case 'image':
        throw new Error('this upstream makes no pictures');
    }
  }

  end(): string {
    const closing = this.#close();
    const reason = INCOMPLETE[finishOf(this.#answer)];
    const { prompt, completion, cached = 0, reasoning = 0 } = usageOf(this.#answer);
    const response = {
      ...this.#head,
      status: reason === undefined ? 'completed' : 'incomplete',
      incomplete_details: reason === undefined ? null : { reason },
      output: this.#output,
      usage: {
        input_tokens: prompt,
        input_tokens_details: { cached_tokens: cached },
        output_tokens: completion,
        output_tokens_details: { reasoning_tokens: reasoning },
        total_tokens: prompt + completion,
      },
    };
    return closing + this.#event(reason === undefined ? 'response.completed' : 'response.incomplete', { response });
  }

  fault(message: string): string {
    return this.#event('error', { code: 'server_is_overloaded', message, param: null });
  }

  #reasoning(text: string): string {
    let out = '';
    const place = (): Json => ({ ...this.#place(), summary_index: 0 });
    if (this.#open?.name !== 'reasoning') {
      out += this.#begin('reasoning', { id: `rs_${this.#output.length}`, type: 'reasoning', summary: [] });
      out += this.#event('response.reasoning_summary_part.added', {
        ...place(),
        part: { type: 'summary_text', text: '' },
      });
    }
    if (this.#open !== undefined) this.#open.text += text;
    return out + this.#event('response.reasoning_summary_text.delta', { ...place(), delta: text });
  }

  #text(text: string): string {
    let out = '';
    if (this.#open?.name !== 'message') {
      const item = { id: `msg_${this.#output.length}`, type: 'message', status: 'in_progress', role: 'assistant' };
      out += this.#begin('message', { ...item, content: [] });
      out += this.#event('response.content_part.added', {
        ...this.#place(),
        content_index: 0,
        part: { type: 'output_text', annotations: [], logprobs: [], text: '' },
      });
    }
    if (this.#open !== undefined) this.#open.text += text;
    const delta = { ...this.#place(), content_index: 0, delta: text, logprobs: [] };
    return out + this.#event('response.output_text.delta', delta);
  }

  #tool({ index, call, fragment: written, first, last }: Extract<VendorPiece, { kind: 'tool' }>): string {
    let out = '';
    // Of a call without arguments the API says so.
    const fragment = first && last && written === '' ? '{}' : written;
    if (this.#open?.name !== `tool ${index}`) {
      const item = { id: `fc_${this.#output.length}`, type: 'function_call', status: 'in_progress' };
      out += this.#begin(`tool ${index}`, { ...item, call_id: call.id, name: call.name, arguments: '' });
    }
    if (this.#open !== undefined) this.#open.text += fragment;
    return out + this.#event('response.function_call_arguments.delta', { ...this.#place(), delta: fragment });
  }

  #begin(name: string, item: Json): string {
    const closing = this.#close();
    this.#open = { name, item, text: '' };
    return closing + this.#event('response.output_item.added', { output_index: this.#output.length, item });
  }

  #close(): string {
    if (this.#open === undefined) return '';
    const { name, item, text } = this.#open;
    const place = this.#place();
    this.#open = undefined;
    let out = '';
    let done: Json;
    if (name === 'reasoning') {
      const part = { type: 'summary_text', text };
      out += this.#event('response.reasoning_summary_text.done', { ...place, summary_index: 0, text });
      out += this.#event('response.reasoning_summary_part.done', { ...place, summary_index: 0, part });
      done = {
        ...item,
        summary: [part],
        ...(this.#encrypts ? { encrypted_content: `encrypted ${item['id']}` } : {}),
      };
    } else if (name === 'message') {
      const part = { type: 'output_text', annotations: [], logprobs: [], text };
      out += this.#event('response.output_text.done', { ...place, content_index: 0, text, logprobs: [] });
      out += this.#event('response.content_part.done', { ...place, content_index: 0, part });
      done = { ...item, status: 'completed', content: [part] };
    } else {
      out += this.#event('response.function_call_arguments.done', { ...place, arguments: text });
      done = { ...item, status: 'completed', arguments: text };
    }
    const index = this.#output.length;
    this.#output.push(done);
    return out + this.#event('response.output_item.done', { output_index: index, item: done });
  }

  #place(): Json {
    return { item_id: this.#open?.item['id'], output_index: this.#output.length };
  }

  #event(type: string, fields: Json): string {
    const event = { type, sequence_number: this.#sequence, ...fields };
    this.#sequence += 1;
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  }
}
