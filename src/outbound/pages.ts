import { SluiceError } from '../core/errors.ts';
import { limited } from './guarded-body.ts';
import { type Fetched, type GuardedFetch, readAll } from './guarded-fetch.ts';
import { shown } from './guarded-target.ts';
import { PageReader } from './pages-reader.ts';

/** Pages are text; what is larger is none that anybody reads. */
const MOST_BYTES = 5 * 1024 * 1024;

const HTML: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const TYPES = [...HTML, 'text/plain', 'text/markdown'];
/** The same in words of HTTP, the best first. */
export const ACCEPT_PAGES = 'text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8';

/** A page as text. */
export interface Page {
  /** Where it came from, after redirects. */
  readonly url: string;
  /** Empty when it has none. */
  readonly title: string;
  /** Its main text as markdown. */
  readonly text: string;
}

interface PageOptions {
  readonly signal?: AbortSignal;
  readonly totalMs?: number;
  /** Whether links keep their addresses; default true. */
  readonly keepsLinks?: boolean;
  readonly allowedOrigins?: readonly string[];
}

/** Fetches pages and reads their main text. */
export interface Pages {
  /** Throws `SluiceError` when the page cannot be had or is no text. */
  read(address: string, options?: PageOptions): Promise<Page>;
  /** The same of what was fetched already and `isPage`. */
  textOf(fetched: Fetched, options?: Pick<PageOptions, 'signal' | 'keepsLinks'>): Promise<Page>;
  close(): Promise<void>;
}

/** Closes the reader when it is closed itself. */
export function createPages(fetch: GuardedFetch, reader: PageReader = new PageReader()): Pages {
  const textOf: Pages['textOf'] = async (fetched, { keepsLinks = true, signal } = {}) => {
    const { url, mimeType, headers, body } = fetched;
    const bytes = await readAll({ body: limited(body, MOST_BYTES, shown(url)) });
    const text = decode(bytes, String(headers['content-type'] ?? ''));
    if (!HTML.has(mimeType)) return { url: url.href, title: '', text: text.trim() };
    const page = await reader.read({ html: text, address: url.href, keepsLinks }, signal);
    if (page.text === '') throw new SluiceError('upstream_invalid', `'${url.origin}' sent a page without text.`);
    return { url: url.href, ...page };
  };
  return {
    async read(address, options = {}) {
      const { keepsLinks: _, ...fetching } = options;
      return textOf(
        await fetch(address, { ...fetching, types: TYPES, accept: ACCEPT_PAGES, bytes: MOST_BYTES }),
        options,
      );
    },
    textOf,
    close: () => reader.close(),
  };
}

/** Whether what a server calls so is read as a page. */
export function isPage(mimeType: string): boolean {
  return TYPES.includes(mimeType);
}

/** The first `words` words of a text, and no more than a usual length for as many: some scripts have no spaces. */
export function excerpt(text: string, words: number): string {
  const mostCharacters = words * 12;
  let end = 0;
  let count = 0;
  for (const { index, 0: word } of text.matchAll(/\S+/g)) {
    if (count === words || index >= mostCharacters) return `${text.slice(0, end)} …`;
    count += 1;
    end = index + word.length;
  }
  if (end <= mostCharacters) return text.trim();
  return `${text
    .slice(0, mostCharacters)
    .toWellFormed()
    .replace(/\ufffd$/, '')} …`;
}

/** Bytes → text: a byte order mark decides, then the header, then the page's own word, then UTF-8. */
export function decode(bytes: Buffer, contentType: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes[0] === 0xef && bytes[1] === 0xbb) return new TextDecoder().decode(bytes);
  const named =
    /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType) ??
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(bytes.toString('latin1', 0, 2048));
  try {
    return new TextDecoder(named?.[1] ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
