import type { Batch, Chunk } from '../../core/chunk.ts';

/**
 * The chunks of a batch that an answer of this format is made of, neighbours of one kind as one: a burst of tokens becomes
 * one event.
 */
export function pieces(batch: Batch): Chunk[] {
  const merged: Chunk[] = [];
  for (const chunk of batch) {
    if (!IS_SHOWN[chunk.type]) continue;
    const last = merged.at(-1);
    const joined = last === undefined ? undefined : join(last, chunk);
    if (joined === undefined) merged.push(chunk);
    else merged[merged.length - 1] = joined;
  }
  return merged;
}

function join(last: Chunk, next: Chunk): Chunk | undefined {
  // With `vendor` a block is over: what follows belongs to another one.
  if (last.type === 'content' && next.type === 'content' && last.vendor === undefined) {
    return { ...next, content: last.content + next.content };
  }
  if (last.type === 'reasoning' && next.type === 'reasoning' && last.vendor === undefined) {
    return { ...next, reasoning: last.reasoning + next.reasoning };
  }
  if (last.type === 'refusal' && next.type === 'refusal')
    return { type: 'refusal', refusal: last.refusal + next.refusal };
  if (last.type !== 'tool_call' || next.type !== 'tool_call') return undefined;
  const { index, arguments: before } = last.tool_call;
  const { arguments: fragment, ...rest } = next.tool_call;
  if (rest.index !== index) return undefined;
  return { type: 'tool_call', tool_call: { ...last.tool_call, ...rest, arguments: before + fragment } };
}

const IS_SHOWN: Readonly<Record<Chunk['type'], boolean>> = {
  content: true,
  reasoning: true,
  refusal: true,
  source: true,
  search: true,
  item: true,
  tool_call: true,
  media: true,
  provider: false,
  parameters: false,
  conversation: false,
  preview: false,
  suggestions: false,
  title: false,
  usage: false,
  log: false,
  auth: false,
  error: false,
  finish: false,
};
