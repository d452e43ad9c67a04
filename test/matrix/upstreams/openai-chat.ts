import { startOpenAiUpstream } from '../../support/openai-upstream.ts';
import { elements, member } from '../../support/vendor-server.ts';
import type { Arrived, MatrixUpstream, Turn } from '../vocabulary.ts';
import { answerTasks, TASK_MODELS } from './openai-tasks.ts';
import { asksFor, given, isWanted, joined, parsed } from './reading.ts';

/** OpenAI's chat completions, and everybody who imitates them. */
export const openAiChat: MatrixUpstream = {
  title: 'OpenAI chat',
  provider: 'acme',
  kind: 'openai',
  model: 'gpt-oss-120b',
  start: (script) =>
    startOpenAiUpstream(script, {
      models: ['gpt-oss-120b', ...Object.values(TASK_MODELS)],
      handle: (request, response) => answerTasks(script, request, response),
    }),
  read,
  cannot: {},
  tasks: TASK_MODELS,
  cannotDo: {},
};

function read(body: unknown): Arrived {
  const messages = elements(member(body, 'messages'));
  const names = new Map<unknown, string>();
  const turns: Turn[] = [];
  for (const message of messages) {
    const role = member(message, 'role');
    const parts = partsOf(message);
    if (role === 'user') {
      turns.push({
        role,
        text: joined(parts.map((part) => member(part, 'text'))),
        images: parts.flatMap((part) => imageOf(member(part, 'image_url', 'url'))),
      });
    } else if (role === 'assistant') {
      const calls = elements(member(message, 'tool_calls'));
      for (const call of calls) names.set(member(call, 'id'), String(member(call, 'function', 'name')));
      const thoughts = member(message, 'reasoning_content') ?? member(message, 'reasoning');
      turns.push({
        role,
        text: joined(parts.map((part) => member(part, 'text'))),
        calls: calls.map((call) => ({
          name: String(member(call, 'function', 'name')),
          input: parsed(member(call, 'function', 'arguments')),
        })),
        ...(typeof thoughts === 'string' ? { thoughts } : {}),
      });
    } else if (role === 'tool') {
      const name = names.get(member(message, 'tool_call_id')) ?? 'unknown';
      const result = { name, text: joined(parts.map((part) => member(part, 'text'))) };
      const last = turns.at(-1);
      if (last?.role === 'results') turns[turns.length - 1] = { ...last, results: [...(last.results ?? []), result] };
      else turns.push({ role: 'results', results: [result] });
    }
  }
  const format = member(body, 'response_format');
  const details = messages.flatMap(partsOf).map((part) => member(part, 'image_url', 'detail'));
  return {
    system: joined(
      messages.filter((message) => isInstruction(member(message, 'role'))).map((message) => joined(textsOf(message))),
    ),
    turns,
    tools: elements(member(body, 'tools')).map((tool) => ({
      name: String(member(tool, 'function', 'name')),
      parameters: member(tool, 'function', 'parameters'),
    })),
    options: given({
      temperature: member(body, 'temperature'),
      topK: member(body, 'top_k'),
      maxTokens: member(body, 'max_tokens') ?? member(body, 'max_completion_tokens'),
      stop: member(body, 'stop'),
      seed: member(body, 'seed'),
      toolChoice: member(body, 'tool_choice'),
      oneCall: isWanted(member(body, 'parallel_tool_calls') === false),
      detail: details.find((detail) => detail !== undefined),
      schema: isWanted(asksFor(member(format, 'json_schema', 'schema'))),
      anyJson: isWanted(member(format, 'type') === 'json_object'),
      effort: isWanted(member(body, 'reasoning_effort') === 'low'),
    }),
  };
}

function isInstruction(role: unknown): boolean {
  return role === 'system' || role === 'developer';
}

function partsOf(message: unknown): readonly unknown[] {
  const content = member(message, 'content');
  return typeof content === 'string' ? [{ type: 'text', text: content }] : elements(content);
}

function textsOf(message: unknown): readonly unknown[] {
  return partsOf(message).map((part) => member(part, 'text'));
}

function imageOf(url: unknown): string[] {
  return typeof url === 'string' ? [url.slice(url.indexOf(',') + 1)] : [];
}
