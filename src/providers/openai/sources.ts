import type { Source } from '../../core/chunk.ts';
import { isObject, membersOf } from '../../core/objects.ts';

/** What a text rests on, as OpenAI's search models and OpenRouter tell it beside the text. */
export function citedSources(annotations: readonly unknown[]): Source[] {
  return annotations.flatMap((annotation): Source[] => {
    const cited = isObject(annotation) ? annotation['url_citation'] : undefined;
    if (!isObject(cited)) return [];
    const { url, title, content, start_index: start, end_index: end } = cited;
    if (typeof url !== 'string') return [];
    return [
      {
        url,
        ...(typeof title === 'string' ? { title } : {}),
        ...(typeof content === 'string' ? { text: content } : {}),
        ...(typeof start === 'number' && typeof end === 'number' ? { start, end } : {}),
      },
    ];
  });
}

/**
 * What Perplexity found, in the order of the numbers in its text (https://docs.perplexity.ai/api-reference/chat-completions-post).
 * Undefined where an event tells of none.
 */
export function foundSources(event: object): readonly Source[] | undefined {
  const { search_results: found } = event as { search_results?: unknown };
  if (!Array.isArray(found) || found.length === 0) return undefined;
  return found.flatMap((result): Source[] => {
    const { url, title, snippet } = membersOf(result);
    if (typeof url !== 'string') return [];
    return [
      {
        url,
        ...(typeof title === 'string' ? { title } : {}),
        ...(typeof snippet === 'string' && snippet !== '' ? { text: snippet } : {}),
      },
    ];
  });
}
