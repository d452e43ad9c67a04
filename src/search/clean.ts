import { toWebAddress } from '../outbound/address.ts';
import type { SearchResult } from './engine.ts';

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/**
 * Characters that nobody sees: controls, marks of direction, tags, private ones. A page can say something to a model with
 * them that its reader does not see. Joiners stay: Persian and Hindi cannot be written without.
 */
const INVISIBLE = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}]/gu;

/** What is left of results when everything is taken out that is no http(s) address, no text, or there twice. */
export function cleanResults(results: readonly SearchResult[], count: number): readonly SearchResult[] {
  const seen = new Set<string>();
  const cleaned: SearchResult[] = [];
  for (const { title, url, snippet, text } of results) {
    const address = toWebAddress(url);
    if (address === undefined || seen.has(address.href) || cleaned.length === count) continue;
    seen.add(address.href);
    cleaned.push({
      title: plainText(title).slice(0, 200) || address.hostname,
      url: address.href,
      snippet: plainText(snippet),
      ...(text === undefined ? {} : { text: visibleText(text) }),
    });
  }
  return cleaned;
}

/** Text without invisible characters. */
export function visibleText(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, '').trim();
}

/** A line of text out of what an engine sends with marks and entities. */
function plainText(html: string): string {
  const text = html
    .replace(/<\/?[a-z][^<>]{0,500}>/gi, '')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,5}));/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    });
  return visibleText(text).replace(/\s+/g, ' ');
}
