import { startAnthropicUpstream } from '../../support/anthropic-upstream.ts';
import { elements, member } from '../../support/vendor-server.ts';
import type { Arrived, MatrixUpstream, Turn } from '../vocabulary.ts';
import { asksFor, given, isWanted, joined } from './reading.ts';

/** Anthropic's Messages API. */
export const anthropic: MatrixUpstream = {
  title: 'Anthropic',
  provider: 'claude',
  kind: 'anthropic',
  model: 'claude-sonnet-4-5',
  start: startAnthropicUpstream,
  read,
  cannot: {
    seed: 'the API has no seed',
    detail: 'the API knows pictures in one detail only',
    anyJson: 'the API gives JSON of a schema only',
  },
  signature: () => 'sig-0',
  tasks: {},
  cannotDo: {
    image: 'Anthropic’s models draw nothing',
    speech: 'Anthropic’s models do not speak',
    transcribe: 'Anthropic’s models do not hear',
    embed: 'Anthropic has no embeddings',
  },
};

const CHOICES: Readonly<Record<string, string>> = { any: 'required' };

function read(body: unknown): Arrived {
  const names = new Map<unknown, string>();
  const turns = elements(member(body, 'messages')).map((message): Turn => {
    const blocks = blocksOf(member(message, 'content'));
    const of = (type: string): readonly unknown[] => blocks.filter((block) => member(block, 'type') === type);
    const text = joined(of('text').map((block) => member(block, 'text')));
    if (member(message, 'role') === 'assistant') {
      const calls = of('tool_use');
      for (const call of calls) names.set(member(call, 'id'), String(member(call, 'name')));
      const [thought] = of('thinking');
      return {
        role: 'assistant',
        text,
        calls: calls.map((call) => ({ name: String(member(call, 'name')), input: member(call, 'input') })),
        ...(thought === undefined
          ? {}
          : { thoughts: String(member(thought, 'thinking')), signature: String(member(thought, 'signature')) }),
      };
    }
    const results = of('tool_result').map((block) => ({
      name: names.get(member(block, 'tool_use_id')) ?? 'unknown',
      text: joined(blocksOf(member(block, 'content')).map((part) => member(part, 'text'))),
    }));
    if (results.length > 0) return { role: 'results', results };
    return { role: 'user', text, images: of('image').map((block) => String(member(block, 'source', 'data'))) };
  });
  const choice = String(member(body, 'tool_choice', 'type'));
  return {
    system: joined(blocksOf(member(body, 'system')).map((block) => member(block, 'text'))),
    turns,
    tools: elements(member(body, 'tools')).map((tool) => ({
      name: String(member(tool, 'name')),
      parameters: member(tool, 'input_schema'),
    })),
    options: given({
      temperature: member(body, 'temperature'),
      topK: member(body, 'top_k'),
      maxTokens: member(body, 'max_tokens'),
      stop: member(body, 'stop_sequences'),
      seed: member(body, 'seed'),
      toolChoice: member(body, 'tool_choice') === undefined ? undefined : (CHOICES[choice] ?? choice),
      oneCall: isWanted(member(body, 'tool_choice', 'disable_parallel_tool_use') === true),
      schema: isWanted(asksFor(member(body, 'output_config', 'format', 'schema'))),
      effort: isWanted(member(body, 'thinking', 'type') === 'enabled'),
    }),
  };
}

function blocksOf(content: unknown): readonly unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : elements(content);
}
