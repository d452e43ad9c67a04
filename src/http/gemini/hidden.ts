import type { ReasoningPart, VendorData } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { objectsIn } from '../../core/objects.ts';
import { isVendorData } from '../../core/vendor.ts';
import { HeldThoughts } from '../held-thoughts.ts';

/**
 * Thoughts for clients that did not ask for them, who get none from Google (https://ai.google.dev/gemini-api/docs/thinking): they go out
 * sealed in the signature of the first call behind them, and come back with it.
 *
 * @param mostBytes of thoughts, which are in memory until then
 */
export async function* hidingThoughts(batches: AsyncIterable<Batch>, mostBytes: number): AsyncIterable<Batch> {
  const held = new HeldThoughts(mostBytes);
  /** By the index of the call that takes them along. */
  const sealed = new Map<number, VendorData>();
  for await (const batch of batches) {
    const rest: Chunk[] = [];
    for (const chunk of batch) {
      if (chunk.type === 'reasoning') held.add(chunk);
      else if (chunk.type === 'tool_call') {
        const { tool_call: call } = chunk;
        const thoughts = sealed.has(call.index) ? [] : held.take();
        if (thoughts.length > 0) sealed.set(call.index, { sluice: { thoughts } });
        const own = sealed.get(call.index);
        rest.push(own === undefined ? chunk : { ...chunk, tool_call: { ...call, vendor: { ...call.vendor, ...own } } });
      } else rest.push(chunk);
    }
    if (rest.length > 0) yield rest;
  }
}

/** The thoughts that were hidden in the signature of a call, and what else it holds. */
export function hiddenThoughts(vendor: VendorData | undefined): {
  readonly thoughts: readonly ReasoningPart[];
  readonly rest: VendorData | undefined;
} {
  if (vendor?.['sluice'] === undefined) return { thoughts: [], rest: vendor };
  const { sluice, ...rest } = vendor;
  return { thoughts: objectsIn(sluice['thoughts']).flatMap(toThought), rest };
}

/** Whoever sends it may have made it up. */
function toThought({ text, vendor }: Record<string, unknown>): ReasoningPart[] {
  if (typeof text !== 'string') return [];
  return [{ type: 'reasoning', text, ...(isVendorData(vendor) ? { vendor } : {}) }];
}
