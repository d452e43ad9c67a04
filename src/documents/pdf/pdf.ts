import {
  extractPagesMarkdown,
  extractStructureElements,
  extractTextWithPositions,
  processPdf,
  type TextItem,
} from '@firecrawl/pdf-inspector';
import { type Markdown, Refusal, titled } from '../conversion.ts';
import { tidy } from '../markdown.ts';
import { align, type Edit, edit, type Range } from './alignment.ts';
import { codeEdits } from './code.ts';
import { linkEdits } from './links.ts';
import { listItemEdits, nestLists } from './lists.ts';
import { tableEdits } from './tables.ts';

/** A longer document is left as the library makes it: all its pieces with their places would take too much memory. */
const MOST_PAGES = 1_000;

/**
 * The least part of a document's letters that has to be in its markdown. The library leaves out what comes again on other pages,
 * figures aside: usually headers and footers, but most of all invoices of a file but the first.
 */
const LEAST_KEPT = 0.85;

/** What stands for letters of which the fonts do not say what they are. */
const UNKNOWN_LETTERS = /\ufffd/g;

/**
 * A PDF → markdown. The library finds headings, paragraphs, tables and columns; links, levels of lists and code blocks are
 * put back with what it knows of the pages. Throws a `Refusal` for a PDF that is damaged, locked or without any text.
 */
export function pdfToMarkdown(bytes: Uint8Array): Markdown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { markdown: whole = '', title, pageCount } = read(() => processPdf(buffer));
  const items = pageCount > MOST_PAGES ? [] : read(() => extractTextWithPositions(buffer));
  const written = lettersIn(items.map(({ itemType, text }) => (itemType === 'Text' ? text : '')).join(''));
  const isWhole = whole.trim() !== '' && lettersIn(whole) >= LEAST_KEPT * written;
  const markdown = isWhole ? whole : pageByPage(buffer);
  if (markdown.trim() === '') throw new Refusal('has no text in it, perhaps because it was scanned');
  const unknown = markdown.match(UNKNOWN_LETTERS)?.length ?? 0;
  if (unknown > markdown.replace(/\s/g, '').length / 2)
    throw new Refusal('has no text that can be read: its fonts do not say which letters they show');
  const made = plainMarks(pageCount > MOST_PAGES ? markdown : repair(markdown, buffer, items));
  const text = tidy(`${made}\n\n${tellPictures(items)}`);
  return titled(text, title);
}

/** Which pages are pictures alone: whoever asks about them is to know that nothing of them is here. */
function tellPictures(items: readonly TextItem[]): string {
  const withText = new Set(
    items.filter(({ itemType, text }) => itemType !== 'Image' && text.trim() !== '').map(({ page }) => page),
  );
  const pages = new Set(items.filter(({ itemType }) => itemType === 'Image').map(({ page }) => page));
  const runs: [first: number, last: number][] = [];
  for (const page of [...pages].filter((each) => !withText.has(each)).sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run?.[1] === page - 1) run[1] = page;
    else runs.push([page, page]);
  }
  if (runs.length === 0) return '';
  const told = runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
  return `*(Without any text, perhaps because they were scanned: pages ${told})*`;
}

function lettersIn(text: string): number {
  return text.replace(/[^\p{L}\p{N}]+/gu, '').length;
}

/** The library takes a document for pictures where most of its pages are; of a page it gives all words. */
function pageByPage(buffer: Buffer): string {
  const { pages } = read(() => extractPagesMarkdown(buffer));
  return pages.map(({ markdown }) => markdown).join('\n');
}

function repair(markdown: string, buffer: Buffer, items: readonly TextItem[]): string {
  const texts = items.filter((item) => item.itemType === 'Text');
  const ranges = align(markdown, texts);
  const code = codeEdits(markdown, texts, ranges);
  const tables = tableEdits(markdown, texts, ranges);
  const starts = listItemEdits(
    markdown,
    texts,
    ranges,
    read(() => extractStructureElements(buffer)),
  );
  const nested = nestLists(
    edit(markdown, [...code, ...tables, ...starts, ...pipeEdits(markdown, texts, ranges)]),
    items,
  );
  return edit(nested, linkEdits(nested, items));
}

function read<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    const isLocked = error instanceof Error && /encrypt|password/i.test(error.message);
    throw new Refusal(isLocked ? 'is protected by a password' : 'is a damaged PDF', { cause: error });
  }
}

/** Bars inside the cells of a table, which would end them. */
function pipeEdits(markdown: string, items: readonly TextItem[], ranges: readonly (Range | undefined)[]): Edit[] {
  return items.flatMap((item, index) => {
    const range = ranges[index];
    if (range === undefined || !item.text.includes('|')) return [];
    if (markdown[markdown.lastIndexOf('\n', range.start) + 1] !== '|') return [];
    const cell = markdown.slice(range.start, range.end);
    return [{ ...range, text: cell.replace(/\\?\|/g, '\\|') }];
  });
}

/** The library's tags as markdown where there is a mark for them; other text that looks like a tag is shown as it is. */
function plainMarks(markdown: string): string {
  const outside = (text: string): string =>
    text
      .replace(/<\/?u>/g, '')
      .replace(/<s>((?:(?!<\/?s>).)*)<\/s>/g, '~~$1~~')
      .replace(/([^\n])\n(?=#{1,6} )/g, '$1\n\n')
      .replace(/<(?=[a-z/!?])(?!\/?(?:sup|sub)>|br>)/gi, '\\<');
  const end = /^```$/gm;
  const parts: string[] = [];
  let done = 0;
  for (const { index } of markdown.matchAll(/^```/gm)) {
    if (index < done) continue;
    end.lastIndex = index + 3;
    if (end.exec(markdown) === null) break;
    parts.push(outside(markdown.slice(done, index)), markdown.slice(index, end.lastIndex));
    done = end.lastIndex;
  }
  return parts.join('') + outside(markdown.slice(done));
}
