import type { ReasoningPart, VendorData } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { sealVendor } from '../../core/vendor.ts';
import { HeldThoughts } from '../held-thoughts.ts';

/**
 * Thoughts for clients that did not ask for them. Some models think all the same, whatever they are told: before a call their thoughts go
 * out sealed, as blocks of their own, and come back with it.
 *
 * @param mostBytes of thoughts, which are in memory until then
 */
export async function* hidingThoughts(batches: AsyncIterable<Batch>, mostBytes: number): AsyncIterable<Batch> {
  const held = new HeldThoughts(mostBytes);
  for await (const batch of batches) {
    const rest: Chunk[] = [];
    for (const chunk of batch) {
      if (chunk.type === 'reasoning') held.add(chunk);
      else {
        if (chunk.type === 'tool_call') rest.push(...held.take().map(toSealed));
        rest.push(chunk);
      }
    }
    if (rest.length > 0) yield rest;
  }
}

function toSealed({ text, vendor }: ReasoningPart): Chunk {
  const redactedData = sealVendor({ ...vendor, sluice: { thoughts: text } });
  return { type: 'reasoning', reasoning: '', vendor: { anthropic: { redactedData } } };
}

/** A thought that was hidden, from what was sealed. */
export function hiddenThought({ sluice, ...vendor }: VendorData): ReasoningPart | undefined {
  const text = sluice?.['thoughts'];
  if (typeof text !== 'string') return undefined;
  return { type: 'reasoning', text, ...(Object.keys(vendor).length === 0 ? {} : { vendor }) };
}
