import type { ReasoningPart, VendorData } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { openVendor, sealVendor } from '../../core/vendor.ts';

/**
 * Thoughts for clients that did not ask for them, who get none from Google (https://ai.google.dev/gemini-api/docs/thinking). Some models
 * refuse the results of their calls without the thoughts that led to these (Anthropic's, DeepSeek, Kimi): they go out sealed in the
 * signature of the first call behind them, and come back with it.
 */
export async function* hidingThoughts(batches: AsyncIterable<Batch>): AsyncIterable<Batch> {
  /** By the index of the call that takes them along. */
  const sealed = new Map<number, VendorData>();
  let thoughts: VendorData[] = [];
  let text = '';
  const end = (vendor?: VendorData): void => {
    if (text !== '' || vendor !== undefined) thoughts.push({ ...vendor, sluice: { text } });
    text = '';
  };
  for await (const batch of batches) {
    const rest: Chunk[] = [];
    for (const chunk of batch) {
      if (chunk.type === 'reasoning') {
        text += chunk.reasoning;
        if (chunk.vendor !== undefined) end(chunk.vendor);
      } else if (chunk.type === 'tool_call') {
        const { tool_call: call } = chunk;
        end();
        if (thoughts.length > 0 && !sealed.has(call.index)) {
          sealed.set(call.index, { sluice: { thoughts: thoughts.map(sealVendor) } });
          thoughts = [];
        }
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
  const { thoughts } = sluice;
  return { thoughts: Array.isArray(thoughts) ? thoughts.flatMap(toThought) : [], rest };
}

function toThought(sealed: unknown): ReasoningPart[] {
  const { sluice, ...vendor } = (typeof sealed === 'string' ? openVendor(sealed) : undefined) ?? {};
  const text = sluice?.['text'];
  if (typeof text !== 'string') return [];
  return [{ type: 'reasoning', text, ...(Object.keys(vendor).length === 0 ? {} : { vendor }) }];
}
