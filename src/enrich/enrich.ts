import type { Call } from '../core/call.ts';
import type { ChatRequest } from '../core/chat.ts';
import type { Enriched, Ready, Step } from '../core/stream.ts';

/**
 * Runs all steps over a request. Each sees what the earlier ones made of it; the answer passes them the other way round, so
 * that the first step has the last word.
 */
export async function enrich(steps: readonly Step[], asked: ChatRequest, call: Call): Promise<Ready> {
  let request = asked;
  const transforms: NonNullable<Enriched['chunks']>[] = [];
  for (const step of steps) {
    const enriched = await step.enrich(request, call, asked);
    request = enriched.request;
    if (enriched.chunks !== undefined) transforms.unshift(enriched.chunks);
  }
  return { asked, request, chunks: (chunks) => transforms.reduce((all, transform) => transform(all), chunks) };
}
