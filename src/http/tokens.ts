import { setImmediate as turn } from 'node:timers/promises';
import type { ChatRequest, Part } from '../core/chat.ts';
import { isDataUri, mimeTypeOf } from '../core/data-uri.ts';

/** Tokens of a message or tool beside its own text. */
const PER_MESSAGE = 4;
const PER_TOOL = 12;
/** A picture of 1,092 × 1,092 pixels, above which Anthropic scales down: width × height / 750. */
const PER_IMAGE = 1_590;
/** Bytes of a PDF file per page, and tokens that a page costs: 1,500 to 3,000, says Anthropic. */
const PAGE_BYTES = 50_000;
const PER_PAGE = 2_250;
/** Characters that are counted exactly. Of a longer text the rest is taken to be like its beginning: counting takes its time. */
const COUNTED_CHARACTERS = 400_000;
/** Characters that are counted in one go; then others get their turn. */
const CHARACTERS_AT_ONCE = 8_192;
/**
 * Letters, spaces or signs in a row: one word for the tokenizer, whose time grows with the square of a word's length. A
 * Chinese text of 100,000 characters would take it minutes.
 */
const LONG_WORD = /[\p{L}\p{M}]{64}|\s{64}|[^\s\p{L}\p{M}\p{N}]{64}/gu;

/**
 * About how many tokens a prompt has: its text by OpenAI's tokenizer `o200k_base`, everything else by rules of thumb.
 * Anthropic's own tokenizer is not public; it makes some more of the same text.
 */
export async function estimateTokens(request: ChatRequest): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const { texts, extra } = weigh(request);
  const text = texts.join('\n');
  const counted = text.slice(0, COUNTED_CHARACTERS);
  let tokens = 0;
  for (let at = 0; at < counted.length; at += CHARACTERS_AT_ONCE) {
    if (at > 0) await turn();
    for (const piece of cutLongWords(counted.slice(at, at + CHARACTERS_AT_ONCE))) {
      // Words that mean something to a tokenizer, such as <|endoftext|>, are text like any other here.
      tokens += countTokens(piece, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
    }
  }
  return extra + (counted.length === 0 ? 0 : Math.ceil((tokens * text.length) / counted.length));
}

function cutLongWords(text: string): string[] {
  const cuts = Array.from(text.matchAll(LONG_WORD), (match) => match.index + match[0].length);
  return [0, ...cuts].map((from, index) => text.slice(from, cuts[index]));
}

/** The same without a tokenizer, for every answer: four bytes are about one token of English. */
export function guessTokens(request: ChatRequest): number {
  const { texts, extra } = weigh(request);
  return extra + Math.ceil(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 4);
}

function weigh(request: ChatRequest): { readonly texts: readonly string[]; readonly extra: number } {
  const texts: string[] = [];
  let extra = 0;
  const add = (part: Part): void => {
    if (part.type === 'text' || part.type === 'reasoning') texts.push(part.text);
    else if (part.type === 'media') extra += mediaTokens(part.kind, part.url);
  };
  for (const message of request.messages) {
    extra += PER_MESSAGE;
    for (const part of message.content) add(part);
    if (message.role !== 'assistant') continue;
    for (const { name, arguments: written } of message.toolCalls ?? []) texts.push(name, written);
  }
  for (const { name, description = '', parameters = {} } of request.tools ?? []) {
    extra += PER_TOOL;
    texts.push(name, description, JSON.stringify(parameters));
  }
  return { texts, extra };
}

function mediaTokens(kind: string, url: string): number {
  if (kind !== 'file') return PER_IMAGE;
  if (!isDataUri(url)) return PER_PAGE;
  const bytes = (url.length * 3) / 4;
  return mimeTypeOf(url).mimeType?.startsWith('text/')
    ? Math.ceil(bytes / 4)
    : PER_PAGE * Math.max(1, Math.round(bytes / PAGE_BYTES));
}
