import type { ReasoningPart, VendorData } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { AnswerSize } from '../../core/collect.ts';
import { objectsIn } from '../../core/objects.ts';
import { isVendorData } from '../../core/vendor.ts';

/**
 * Thoughts for clients that did not ask for them, who get none from Google (https://ai.google.dev/gemini-api/docs/thinking). Some models
 * refuse the results of their calls without the thoughts that led to these (Anthropic's, DeepSeek, Kimi): they go out sealed in the
 * signature of the first call behind them, and come back with it.
 *
 * @param mostBytes of thoughts, which are in memory until then
 */
export async function* hidingThoughts(batches: AsyncIterable<Batch>, mostBytes: number): AsyncIterable<Batch> {
  const size = new AnswerSize(mostBytes);
  /** By the index of the call that takes them along. */
  const sealed = new Map<number, VendorData>();
  let thoughts: ReasoningPart[] = [];
  let text = '';
  const end = (vendor?: VendorData): void => {
    if (text !== '' || vendor !== undefined) thoughts.push({ type: 'reasoning', text, ...signed(vendor) });
    text = '';
  };
  for await (const batch of batches) {
    const rest: Chunk[] = [];
    for (const chunk of batch) {
      if (chunk.type === 'reasoning') {
        size.add([chunk]);
        text += chunk.reasoning;
        if (chunk.vendor !== undefined) end(chunk.vendor);
      } else if (chunk.type === 'tool_call') {
        const { tool_call: call } = chunk;
        end();
        if (thoughts.length > 0 && !sealed.has(call.index)) {
          sealed.set(call.index, { sluice: { thoughts } });
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
  return { thoughts: objectsIn(sluice['thoughts']).flatMap(toThought), rest };
}

/** Whoever sends it may have made it up. */
function toThought({ text, vendor }: Record<string, unknown>): ReasoningPart[] {
  if (typeof text !== 'string') return [];
  return [{ type: 'reasoning', text, ...signed(isVendorData(vendor) ? vendor : undefined) }];
}

function signed(vendor: VendorData | undefined): { readonly vendor?: VendorData } {
  return vendor === undefined ? {} : { vendor };
}
