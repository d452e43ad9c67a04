import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { type PartReader, readBy, streaming } from './raw-parts.ts';
import { LOOSE_ANNOTATION } from './responses-mend.ts';

/** A mark among the provider options: tools that do not say whether they are strict are not. */
export const LOOSE_TOOLS: SharedV4ProviderOptions = { sluice: { looseTools: true } };

/**
 * The library's model of the Responses API, which tells more: what is a refusal, where citations belong, and thoughts that
 * are no summary. The library reads over all of these; its raw events have them.
 */
export function faithful(model: LanguageModelV4): LanguageModelV4 {
  return streaming(model, async (options) =>
    readBy(new RawReader(), await model.doStream({ ...withTools(options), includeRawChunks: true })),
  );
}

function withTools(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  if (options.providerOptions?.['sluice']?.['looseTools'] !== true || options.tools === undefined) return options;
  return {
    ...options,
    tools: options.tools.map((tool) => (tool.type === 'function' ? { strict: false, ...tool } : tool)),
  };
}

/** Under which id OpenAI knows a part is of no use later, since nothing is stored there. */
function withoutItemId<Part extends { providerMetadata?: SharedV4ProviderMetadata }>(part: Part): Part {
  const { providerMetadata, ...rest } = part;
  const { itemId: _, annotations: __, ...worth } = providerMetadata?.['openai'] ?? {};
  return (Object.keys(worth).length === 0 ? rest : { ...rest, providerMetadata: { openai: worth } }) as Part;
}

/** What is read of an event. */
interface RawEvent {
  readonly type?: unknown;
  readonly item_id?: unknown;
  readonly delta?: unknown;
  readonly annotation?: {
    readonly type?: unknown;
    readonly url?: unknown;
    readonly title?: unknown;
    readonly start_index?: unknown;
    readonly end_index?: unknown;
  } | null;
}

class RawReader implements PartReader {
  #isRefusal = false;
  #refuses = false;
  #citations = 0;
  /** UTF-16 units of all text so far, and where its present part begins. */
  #length = 0;
  #partStart = 0;

  *read(part: LanguageModelV4StreamPart): Iterable<LanguageModelV4StreamPart> {
    switch (part.type) {
      case 'raw':
        yield* this.#event((part.rawValue ?? {}) as RawEvent);
        return;
      case 'text-delta':
        if (this.#isRefusal) yield { ...part, providerMetadata: { openai: { isRefusal: true } } };
        else {
          this.#length += part.delta.length;
          yield part;
        }
        return;
      case 'text-start':
      case 'text-end':
      case 'tool-call':
        yield withoutItemId(part);
        return;
      case 'source':
        // Told already, with its place.
        if (this.#citations === 0 || part.sourceType !== 'url') yield part;
        return;
      case 'finish':
        // A refusal is an answer, whose text says so.
        if (this.#refuses && part.finishReason.unified === 'content-filter' && part.finishReason.raw === undefined) {
          yield { ...part, finishReason: { unified: 'stop', raw: 'stop' } };
        } else yield part;
        return;
      default:
        yield part;
    }
  }

  *#event(event: RawEvent): Iterable<LanguageModelV4StreamPart> {
    const { type, item_id: item, delta, annotation } = event;
    this.#isRefusal = type === 'response.refusal.delta';
    this.#refuses ||= this.#isRefusal;
    if (type === 'response.content_part.added') this.#partStart = this.#length;
    if (type === 'response.reasoning_text.delta' && typeof delta === 'string') {
      yield { type: 'reasoning-delta', id: `${item}:text`, delta };
    }
    const isAnnotation = type === 'response.output_text.annotation.added' || type === LOOSE_ANNOTATION;
    if (!isAnnotation || annotation?.type !== 'url_citation') return;
    const { url, title, start_index: start, end_index: end } = annotation;
    if (typeof url !== 'string') return;
    this.#citations += 1;
    const isPlaced = typeof start === 'number' && typeof end === 'number';
    yield {
      type: 'source',
      sourceType: 'url',
      id: String(this.#citations),
      url,
      ...(typeof title === 'string' ? { title } : {}),
      ...(isPlaced
        ? { providerMetadata: { openai: { start: this.#partStart + start, end: this.#partStart + end } } }
        : {}),
    };
  }
}
