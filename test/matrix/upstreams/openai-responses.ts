import { startResponsesUpstream } from '../../support/responses-upstream.ts';
import { elements, member } from '../../support/vendor-server.ts';
import type { Arrived, MatrixUpstream, Turn } from '../vocabulary.ts';
import { asksFor, given, isWanted, joined, parsed } from './reading.ts';

/** Whoever has the rest as well has it below the same address, as a provider of `kind: openai`. */
const CHATS_ONLY = 'the Responses API has no such task; `kind: openai` at the same address has it';

/** OpenAI's Responses API. */
export const openAiResponses: MatrixUpstream = {
  title: 'OpenAI Responses',
  provider: 'responses',
  kind: 'openai-responses',
  model: 'gpt-5.2',
  start: startResponsesUpstream,
  read,
  cannot: {
    temperature: 'models that think take none',
    topK: 'the API has no such field',
    stop: 'the API has no stop words',
    seed: 'the API has no seed',
  },
  signature: () => 'encrypted rs_0',
  tasks: {},
  cannotDo: {
    image: CHATS_ONLY,
    speech: CHATS_ONLY,
    transcribe: CHATS_ONLY,
    embed: CHATS_ONLY,
  },
};

function read(body: unknown): Arrived {
  const items = elements(member(body, 'input'));
  const names = new Map<unknown, string>();
  const turns: Turn[] = [];
  const extend = (role: Turn['role'], add: (turn: Turn) => Turn): void => {
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = add(last);
    else turns.push(add({ role, ...(role === 'assistant' ? { text: '', calls: [] } : {}) }));
  };
  for (const item of items) {
    const parts = partsOf(item);
    const text = joined(parts.map((part) => member(part, 'text')));
    if (member(item, 'role') === 'user') {
      turns.push({ role: 'user', text, images: parts.flatMap((part) => imageOf(member(part, 'image_url'))) });
    } else if (member(item, 'role') === 'assistant') {
      extend('assistant', (turn) => ({ ...turn, text: `${turn.text ?? ''}${text}` }));
    } else if (member(item, 'type') === 'reasoning') {
      const thoughts = joined(elements(member(item, 'summary')).map((part) => member(part, 'text')));
      const signature = member(item, 'encrypted_content');
      extend('assistant', (turn) => ({
        ...turn,
        thoughts,
        ...(typeof signature === 'string' ? { signature } : {}),
      }));
    } else if (member(item, 'type') === 'function_call') {
      const name = String(member(item, 'name'));
      names.set(member(item, 'call_id'), name);
      const call = { name, input: parsed(member(item, 'arguments')) };
      extend('assistant', (turn) => ({ ...turn, calls: [...(turn.calls ?? []), call] }));
    } else if (member(item, 'type') === 'function_call_output') {
      const output = member(item, 'output');
      const result = {
        name: names.get(member(item, 'call_id')) ?? 'unknown',
        text: typeof output === 'string' ? output : joined(elements(output).map((part) => member(part, 'text'))),
      };
      extend('results', (turn) => ({ ...turn, results: [...(turn.results ?? []), result] }));
    }
  }
  const format = member(body, 'text', 'format');
  const details = items.flatMap(partsOf).map((part) => member(part, 'detail'));
  const instructions = items.filter((item) => ['system', 'developer'].includes(String(member(item, 'role'))));
  return {
    system: joined([
      member(body, 'instructions'),
      ...instructions.flatMap(partsOf).map((part) => member(part, 'text')),
    ]),
    turns,
    tools: elements(member(body, 'tools')).map((tool) => ({
      name: String(member(tool, 'name')),
      parameters: member(tool, 'parameters'),
    })),
    options: given({
      temperature: member(body, 'temperature'),
      topK: member(body, 'top_k'),
      maxTokens: member(body, 'max_output_tokens'),
      stop: member(body, 'stop'),
      seed: member(body, 'seed'),
      toolChoice: member(body, 'tool_choice'),
      oneCall: isWanted(member(body, 'parallel_tool_calls') === false),
      detail: details.find((detail) => detail !== undefined),
      schema: isWanted(asksFor(member(format, 'schema'))),
      anyJson: isWanted(member(format, 'type') === 'json_object'),
      effort: isWanted(member(body, 'reasoning', 'effort') === 'low'),
    }),
  };
}

function partsOf(item: unknown): readonly unknown[] {
  const content = member(item, 'content');
  return typeof content === 'string' ? [{ type: 'input_text', text: content }] : elements(content);
}

function imageOf(url: unknown): string[] {
  return typeof url === 'string' ? [url.slice(url.indexOf(',') + 1)] : [];
}
