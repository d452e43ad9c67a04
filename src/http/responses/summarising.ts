import type { Batch, Chunk } from '../../core/chunk.ts';
import type { Collected } from '../../core/collect.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Step } from '../../core/stream.ts';
import { speaks } from '../../providers/ai-sdk/native.ts';
import type { Question } from '../../routing/router.ts';
import type { Target } from '../../routing/select.ts';
import { compactionItem } from './compaction.ts';
import type { KeptItem } from './items.ts';
import { summaryRequest } from './summary-request.ts';

type Sendable = Question & Required<Pick<Question, 'send'>>;

/** The same question, which asks the targets that `isFor` tells for a summary in the place of an answer. */
export function summarising(question: Sendable, isFor: (target: Target) => boolean = () => true): Sendable {
  // Nobody asks anything, so there is nothing to search for or to remember.
  const { webSearch: _w, memoryUser: _m, ...chat } = question.request();
  return {
    ...question,
    steps: [],
    request: () => ({ ...chat, downloadMedia: false }),
    send(request, target) {
      const sent = question.send(request, target);
      return isFor(target) ? summaryRequest(sent) : sent;
    },
  };
}

/** The summary that was written. Throws where it is none: whoever compacts forgets the rest, so half of one is worse. */
export function summaryOf({ content, finish }: Pick<Collected, 'content' | 'finish'>): string {
  const summary = content.trim();
  if (summary !== '' && finish === 'stop') return summary;
  const why = summary === '' ? 'wrote no summary' : `did not finish its summary (${finish})`;
  throw new SluiceError('upstream_invalid', `The model ${why}, so the conversation was not compacted.`);
}

/** Whether the input ends with the item by which OpenAI's newer clients ask for a compaction, as an answer. */
export function isTriggered(items: readonly KeptItem[]): boolean {
  return isTrigger(items.at(-1));
}

/** The items without such wishes that were granted: only the last one may be one. */
export function withoutGranted(items: readonly KeptItem[]): readonly KeptItem[] {
  return items.filter((each, index) => index === items.length - 1 || !isTrigger(each));
}

function isTrigger(kept: KeptItem | undefined): boolean {
  return kept?.item['type'] === 'compaction_trigger';
}

/** The question of such an input. Upstreams of the same API compact by themselves; of others the summary becomes the item. */
export function triggered(question: Sendable): Sendable {
  let isSummary = false;
  const asked = summarising(question, (target) => !speaks(target.provider, 'responses'));
  const step: Step = {
    name: 'compaction',
    enrich: (request) => ({ request, chunks: (chunks) => asItem(chunks, () => isSummary) }),
  };
  return {
    ...asked,
    steps: [step],
    send(request, target) {
      // Of all that are tried, the one that answers is the last.
      isSummary = !speaks(target.provider, 'responses');
      return asked.send(request, target);
    },
  };
}

/** What the model says as one item at the end; until then batches without chunks, which are signs of life. */
async function* asItem(chunks: AsyncIterable<Batch>, isSummary: () => boolean): AsyncGenerator<Batch, void> {
  let content = '';
  for await (const batch of chunks) {
    if (!isSummary()) {
      yield batch;
      continue;
    }
    const left: Chunk[] = [];
    for (const chunk of batch) {
      if (chunk.type === 'content') content += chunk.content;
      if (chunk.type === 'finish') {
        // It gets an id that begins like this one.
        const item = compactionItem('cmp_', summaryOf({ content, finish: chunk.finish }));
        left.push({ type: 'item', item: { event: { type: 'response.output_item.done', item }, isWork: true } });
      }
      if (KEPT.has(chunk.type)) left.push(chunk);
    }
    yield left;
  }
}

const KEPT: ReadonlySet<Chunk['type']> = new Set(['provider', 'usage', 'finish', 'error', 'auth']);
