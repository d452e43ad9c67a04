import type { Batch, Chunk, Usage } from '../../core/chunk.ts';
import type { Encoder } from '../../core/stream.ts';
import { sumUsages } from '../../core/usage.ts';
import { type CompletionHead, CompletionStream } from './encode.ts';

/** Batches of several answers in the order in which they come, and an encoder that tells them apart. */
export function mergeChoices(
  choices: readonly AsyncIterable<Batch>[],
  head: CompletionHead,
  wantsUsage: boolean,
): { readonly chunks: AsyncIterable<Batch>; readonly encoder: Encoder } {
  const encoders = choices.map((_, index) => new CompletionStream(head, { wantsUsage, index }));
  const usages: Usage[] = [];
  let current = encoders[0];
  async function* chunks(): AsyncIterable<Batch> {
    for await (const [index, batch] of interleaved(choices)) {
      current = encoders[index];
      yield withOneUsage(batch, usages, choices.length);
    }
  }
  const encoder: Encoder = {
    contentType: 'text/event-stream; charset=utf-8',
    encode: (batch) => current?.encode(batch) ?? '',
    end: () => current?.end() ?? '',
  };
  return { chunks: chunks(), encoder };
}

/** The client gets one usage, of all choices together, with the finish of the last of them. */
function withOneUsage(batch: Batch, usages: Usage[], choices: number): Batch {
  const usage = batch.find((chunk) => chunk.type === 'usage');
  if (usage === undefined) return batch;
  usages.push(usage.usage);
  const all = usages.length === choices ? sumUsages(usages) : undefined;
  return batch.flatMap((chunk): Chunk[] => {
    if (chunk.type !== 'usage') return [chunk];
    return all === undefined ? [] : [{ type: 'usage', usage: all }];
  });
}

/** Batches of several answers in the order in which they come, each with the index of its answer. */
export async function* interleaved(
  sources: readonly AsyncIterable<Batch>[],
): AsyncGenerator<readonly [index: number, batch: Batch], void> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  const take = async (index: number) => ({ index, result: await iterators[index]?.next() });
  const step = (index: number): ReturnType<typeof take> => {
    const taken = take(index);
    // It may fail while nobody asks: whoever does hears of it, and where nobody does any more it is no matter.
    taken.catch(() => {});
    return taken;
  };
  const waiting = new Map(iterators.map((_, index) => [index, step(index)]));
  try {
    while (waiting.size > 0) {
      const { index, result } = await Promise.race(waiting.values());
      if (result === undefined || result.done === true) waiting.delete(index);
      else {
        waiting.set(index, step(index));
        yield [index, result.value];
      }
    }
  } finally {
    for (const iterator of iterators) void iterator.return?.().catch(() => {});
  }
}
