import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isObject, membersOf } from '../../core/objects.ts';
import { type PartReader, readBy, streaming } from './raw-parts.ts';

/**
 * The library's model of the Gemini API, which also tells the text of an answer in the place of its JSON. Models that know no schema
 * beside tools are given the schema as one more tool by the library, which leaves out all text then; they answer in text nevertheless.
 */
export function withText(model: LanguageModelV4): LanguageModelV4 {
  return streaming(model, async (options) => {
    const { responseFormat: format, tools } = options;
    if (format?.type !== 'json' || format.schema === undefined || tools === undefined) return model.doStream(options);
    const result = await model.doStream({ ...options, includeRawChunks: true });
    const config = membersOf(membersOf(result.request?.body)['generationConfig']);
    return readBy(new TextReader(config['responseMimeType'] === undefined), result);
  });
}

type TextDelta = Extract<LanguageModelV4StreamPart, { type: 'text-delta' }>;

/** The library itself counts its texts. */
const ID = 'text';

class TextReader implements PartReader {
  /** Text that the library has left out. It waits for the JSON, beside which it would be no part of the answer. */
  #text: TextDelta[] = [];
  #leavesOut: boolean;

  constructor(leavesOut: boolean) {
    this.#leavesOut = leavesOut;
  }

  *read(part: LanguageModelV4StreamPart): Iterable<LanguageModelV4StreamPart> {
    switch (part.type) {
      case 'raw':
        if (this.#leavesOut) this.#text.push(...textOf(part.rawValue));
        return;
      case 'text-start':
        this.#leavesOut = false;
        this.#text = [];
        break;
      case 'tool-input-start':
      case 'finish':
        if (this.#text.length === 0) break;
        yield { type: 'text-start', id: ID };
        yield* this.#text;
        yield { type: 'text-end', id: ID };
        this.#text = [];
        break;
    }
    yield part;
  }
}

function textOf(event: unknown): TextDelta[] {
  const { candidates } = membersOf(event);
  const { parts } = membersOf(membersOf(Array.isArray(candidates) ? candidates[0] : undefined)['content']);
  return (Array.isArray(parts) ? parts : []).flatMap((part): TextDelta[] => {
    if (!isObject(part) || typeof part['text'] !== 'string' || part['thought'] === true) return [];
    const { text, thoughtSignature } = part;
    const isSigned = typeof thoughtSignature === 'string';
    if (text === '' && !isSigned) return [];
    return [
      {
        type: 'text-delta',
        id: ID,
        delta: text,
        ...(isSigned ? { providerMetadata: { google: { thoughtSignature } } } : {}),
      },
    ];
  });
}
