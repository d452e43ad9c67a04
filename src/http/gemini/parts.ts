import type { Part } from '../../core/chat.ts';
import type { MediaRef, Source, Usage } from '../../core/chunk.ts';
import { heldAsBase64, mimeTypeOf } from '../../core/data-uri.ts';
import { isObject, parseObject } from '../../core/objects.ts';
import { toSignature } from './signature.ts';

type Json = Record<string, unknown>;

/** Text or thoughts of an answer as a part; or the part that Google itself gave, when it speaks to one of its own clients. */
export function textPart(part: Extract<Part, { type: 'text' | 'reasoning' }>): Json {
  const own = part.vendor?.['google']?.['part'];
  if (isObject(own)) return own;
  return { text: part.text, ...(part.type === 'reasoning' ? { thought: true } : {}), ...toSignature(part.vendor) };
}

/** Media as a part: `inlineData` where the address is a `data:` URI, else `fileData`. */
export function mediaPart({ url, mimeType, kind }: MediaRef): Json {
  const type = mimeType ?? mimeTypeOf(url).mimeType ?? DEFAULT_TYPES[kind];
  const data = heldAsBase64(url);
  return data === undefined ? { fileData: { mimeType: type, fileUri: url } } : { inlineData: { mimeType: type, data } };
}

const DEFAULT_TYPES = { image: 'image/png', audio: 'audio/wav', video: 'video/mp4' } as const;

/** The arguments of a call as an object; undefined when the model wrote none. */
export function argumentsOf(text: string): Json | undefined {
  if (text.trim() === '') return {};
  return parseObject(text);
}

/** Sources as the grounding of an answer. `text` is the answer: Google counts bytes of it where we count UTF-16 units. */
export function groundingOf(sources: readonly Source[], text: string): { groundingMetadata?: Json } {
  if (sources.length === 0) return {};
  const chunks = new Map<string, { readonly index: number; readonly web: Json }>();
  const supports: Json[] = [];
  for (const { url, title, start, end } of sources) {
    const known = chunks.get(url) ?? { index: chunks.size, web: { uri: url, title: title ?? '' } };
    chunks.set(url, known);
    if (start === undefined || end === undefined || end <= start) continue;
    const segment = {
      startIndex: Buffer.byteLength(text.slice(0, start)),
      endIndex: Buffer.byteLength(text.slice(0, end)),
      text: text.slice(start, end),
    };
    supports.push({ segment, groundingChunkIndices: [known.index] });
  }
  return {
    groundingMetadata: {
      groundingChunks: [...chunks.values()].map(({ web }) => ({ web })),
      ...(supports.length === 0 ? {} : { groundingSupports: supports }),
    },
  };
}

/** Google counts thoughts beside the tokens of the candidates, OpenAI among them. */
export function usageOf(usage: Usage): Json {
  const { promptTokens, completionTokens, totalTokens, cachedTokens, reasoningTokens = 0 } = usage;
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: Math.max(0, completionTokens - reasoningTokens),
    totalTokenCount: totalTokens,
    ...(cachedTokens === undefined ? {} : { cachedContentTokenCount: cachedTokens }),
    ...(reasoningTokens === 0 ? {} : { thoughtsTokenCount: reasoningTokens }),
  };
}

/** The words of the API for why an answer ended, beside those below. */
const WORDS: ReadonlySet<string> = new Set([
  'RECITATION',
  'LANGUAGE',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MALFORMED_FUNCTION_CALL',
  'IMAGE_SAFETY',
  'UNEXPECTED_TOOL_CALL',
]);

/** Why an answer ended, in the words of the API; `OTHER` where it has none. */
export function finishReason(finish: string): string {
  switch (finish) {
    case 'stop':
    case 'tool_calls':
      return 'STOP';
    case 'length':
      return 'MAX_TOKENS';
    case 'content_filter':
      return 'SAFETY';
    default: {
      const word = finish.toUpperCase();
      return WORDS.has(word) ? word : 'OTHER';
    }
  }
}
