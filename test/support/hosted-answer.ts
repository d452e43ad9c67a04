/*
 * Answers of OpenAI's Responses API with tools that run there, as it streams them
 * (https://platform.openai.com/docs/api-reference/responses-streaming): of every item its beginning, what its kind says on the way,
 * and its end.
 */

type Json = Record<string, unknown>;

/** What OpenAI says with such tools, item by item. */
export const HOSTED_ITEMS: readonly Json[] = [
  {
    id: 'rs_a1',
    type: 'reasoning',
    summary: [
      { type: 'summary_text', text: 'First, the files.' },
      { type: 'summary_text', text: 'Then, the numbers.' },
    ],
    encrypted_content: 'gAAAAsealed',
  },
  {
    id: 'fs_a2',
    type: 'file_search_call',
    status: 'completed',
    queries: ['tortoises'],
    results: [{ file_id: 'file-9', filename: 'zoo.pdf', score: 0.9, text: 'They grow old.', attributes: {} }],
  },
  {
    id: 'ws_a3',
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'tortoise age', sources: [{ type: 'url', url: 'https://zoo.example/' }] },
  },
  {
    id: 'ci_a4',
    type: 'code_interpreter_call',
    status: 'completed',
    code: 'print(191 - 100)',
    container_id: 'cntr_1',
    outputs: [{ type: 'logs', logs: '91\n' }],
  },
  {
    id: 'mcpl_a5',
    type: 'mcp_list_tools',
    server_label: 'docs',
    tools: [{ name: 'read', input_schema: { type: 'object' }, description: null, annotations: null }],
  },
  {
    id: 'mcp_a6',
    type: 'mcp_call',
    status: 'completed',
    server_label: 'docs',
    name: 'read',
    arguments: '{"page":1}',
    output: 'A page.',
    error: null,
    approval_request_id: null,
  },
  {
    id: 'ig_a7',
    type: 'image_generation_call',
    status: 'completed',
    result: 'aW1hZ2U=',
    output_format: 'png',
    size: '1024x1024',
    revised_prompt: 'A tortoise',
  },
  {
    id: 'msg_a8',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    phase: 'final_answer',
    content: [
      {
        type: 'output_text',
        text: 'A tortoise may grow 191 years old.',
        annotations: [
          { type: 'file_citation', file_id: 'file-9', filename: 'zoo.pdf', index: 10 },
          { type: 'url_citation', url: 'https://zoo.example/', title: 'Zoo', start_index: 2, end_index: 10 },
          {
            type: 'container_file_citation',
            container_id: 'cntr_1',
            file_id: 'cfile_1',
            filename: 'plot.png',
            start_index: 0,
            end_index: 3,
          },
        ],
        logprobs: [],
      },
    ],
  },
  { id: 'fc_a9', type: 'function_call', status: 'completed', call_id: 'call_1', name: 'weather', arguments: '{"a":1}' },
  {
    id: 'ctc_a10',
    type: 'custom_tool_call',
    status: 'completed',
    call_id: 'call_2',
    name: 'patch',
    input: '*** "Begin"\n\\n😀',
  },
  {
    id: 'fc_a11',
    type: 'function_call',
    status: 'completed',
    call_id: 'call_3',
    name: 'find',
    namespace: 'crm',
    arguments: '{}',
  },
];

const USAGE = {
  input_tokens: 300,
  input_tokens_details: { cached_tokens: 100 },
  output_tokens: 50,
  output_tokens_details: { reasoning_tokens: 20 },
  total_tokens: 350,
};

/** The stream of an answer that consists of these items, as bytes of the wire. */
export function hostedAnswer(items: readonly Json[], ending: Json = {}): string {
  const written = new Written();
  const head = { id: 'resp_68a1', object: 'response', created_at: 1_755_000_000, model: 'gpt-5.2', output: [] };
  const begun = { ...head, status: 'in_progress', usage: null };
  written.event('response.created', { response: begun });
  written.event('response.in_progress', { response: begun });
  for (const [index, item] of items.entries()) written.item(item, index);
  const { error } = ending;
  const status =
    error === undefined ? (ending['incomplete_details'] === undefined ? 'completed' : 'incomplete') : 'failed';
  const response = { ...head, status, output: items, usage: error === undefined ? USAGE : null, ...ending };
  written.event(`response.${status}`, { response });
  return written.text;
}

/** The events of an item alone, as `hostedAnswer` has them. */
export function eventTypesOf(item: Json): readonly string[] {
  const written = new Written();
  written.item(item, 0);
  return [...written.text.matchAll(/^event: (.*)$/gm)].map(([, type]) => String(type));
}

class Written {
  text = '';
  #sequence = 0;

  event(type: string, fields: Json): void {
    this.text += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence, ...fields })}\n\n`;
    this.#sequence += 1;
  }

  item(item: Json, index: number): void {
    const { id, type } = item;
    const place = { item_id: id, output_index: index };
    const say = (name: string, fields: Json = {}): void => this.event(`response.${name}`, { ...place, ...fields });
    const steps = (...names: string[]): void => {
      for (const name of names) say(`${type}.${name}`);
    };
    this.event('response.output_item.added', { output_index: index, item: begun(item) });
    switch (type) {
      case 'message':
        for (const [at, part] of (item['content'] as Json[]).entries())
          this.#part(part, { ...place, content_index: at });
        break;
      case 'reasoning':
        for (const [at, part] of (item['summary'] as Json[]).entries()) {
          const of = { summary_index: at };
          say('reasoning_summary_part.added', { ...of, part: { type: 'summary_text', text: '' } });
          for (const delta of halves(part['text'])) say('reasoning_summary_text.delta', { ...of, delta });
          say('reasoning_summary_text.done', { ...of, text: part['text'] });
          say('reasoning_summary_part.done', { ...of, part });
        }
        break;
      case 'function_call':
        for (const delta of halves(item['arguments']))
          say('function_call_arguments.delta', { delta, obfuscation: 'x1' });
        say('function_call_arguments.done', { arguments: item['arguments'] });
        break;
      case 'custom_tool_call':
        for (const delta of halves(item['input'])) say('custom_tool_call_input.delta', { delta });
        say('custom_tool_call_input.done', { input: item['input'] });
        break;
      case 'web_search_call':
      case 'file_search_call':
        steps('in_progress', 'searching', 'completed');
        break;
      case 'code_interpreter_call':
        steps('in_progress');
        for (const delta of halves(item['code'])) say('code_interpreter_call_code.delta', { delta });
        say('code_interpreter_call_code.done', { code: item['code'] });
        steps('interpreting', 'completed');
        break;
      case 'image_generation_call':
        steps('in_progress', 'generating');
        say('image_generation_call.partial_image', { partial_image_index: 0, partial_image_b64: 'cGFydA==' });
        steps('completed');
        break;
      case 'mcp_call':
        steps('in_progress');
        say('mcp_call_arguments.delta', { delta: item['arguments'] });
        say('mcp_call_arguments.done', { arguments: item['arguments'] });
        steps('completed');
        break;
      case 'mcp_list_tools':
        steps('in_progress', 'completed');
        break;
    }
    this.event('response.output_item.done', { output_index: index, item });
  }

  #part(part: Json, place: Json): void {
    const { type, text, annotations = [] } = part as { type: string; text?: string; annotations?: readonly Json[] };
    const name = `response.${type}`;
    const empty = type === 'refusal' ? { type, refusal: '' } : { type, annotations: [], logprobs: [], text: '' };
    this.event('response.content_part.added', { ...place, part: empty });
    const said = text ?? part['refusal'];
    for (const delta of halves(said)) this.event(`${name}.delta`, { ...place, delta, logprobs: [] });
    for (const [at, annotation] of annotations.entries()) {
      this.event(`${name}.annotation.added`, { ...place, annotation_index: at, annotation });
    }
    this.event(`${name}.done`, { ...place, [type === 'refusal' ? 'refusal' : 'text']: said });
    this.event('response.content_part.done', { ...place, part });
  }
}

/** An item as it is when it begins: without what comes on the way. */
function begun(item: Json): Json {
  const { encrypted_content: _, ...rest } = item;
  const empty = Object.fromEntries(
    Object.entries({ content: [], summary: [], arguments: '', input: '', code: '' }).filter(([name]) => name in item),
  );
  return {
    ...rest,
    ...empty,
    ...('status' in item ? { status: 'in_progress' } : {}),
    ...('result' in item ? { result: null } : {}),
  };
}

function halves(text: unknown): readonly string[] {
  const whole = String(text);
  const middle = Math.ceil(whole.length / 2);
  return [whole.slice(0, middle), whole.slice(middle)].filter((half) => half !== '');
}
