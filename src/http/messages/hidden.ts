import type { ReasoningPart, VendorData } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { AnswerSize } from '../../core/collect.ts';
import { sealVendor } from '../../core/vendor.ts';

/**
 * Thoughts for clients that want none. Some models think all the same, whatever they are told, and refuse the results of their calls
 * without the thoughts that led to these (DeepSeek, Kimi): before a call they go out sealed, and come back with it.
 *
 * @param mostBytes of thoughts, which are in memory until then
 */
export async function* hidingThoughts(batches: AsyncIterable<Batch>, mostBytes: number): AsyncIterable<Batch> {
  const size = new AnswerSize(mostBytes);
  const hidden: Chunk[] = [];
  let text = '';
  const hide = (vendor?: VendorData) => {
    if (text === '' && vendor === undefined) return;
    const redactedData = sealVendor({ ...vendor, sluice: { thoughts: text } });
    hidden.push({ type: 'reasoning', reasoning: '', vendor: { anthropic: { redactedData } } });
    text = '';
  };
  for await (const batch of batches) {
    const rest: Chunk[] = [];
    for (const chunk of batch) {
      if (chunk.type === 'reasoning') {
        size.add([chunk]);
        text += chunk.reasoning;
        if (chunk.vendor !== undefined) hide(chunk.vendor);
        continue;
      }
      if (chunk.type === 'tool_call') {
        hide();
        rest.push(...hidden.splice(0));
      }
      rest.push(chunk);
    }
    if (rest.length > 0) yield rest;
  }
}

/** A thought that was hidden, from what was sealed. */
export function hiddenThought({ sluice, ...vendor }: VendorData): ReasoningPart | undefined {
  const text = sluice?.['thoughts'];
  if (typeof text !== 'string') return undefined;
  return { type: 'reasoning', text, ...(Object.keys(vendor).length === 0 ? {} : { vendor }) };
}
