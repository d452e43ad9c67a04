import type { TextItem } from '@firecrawl/pdf-inspector';
import { fence } from '../markdown.ts';
import { type Edit, lettersIn, type Range } from './alignment.ts';
import { codeBlocks, isTypewritten, type Line, layOutCode, linesOf, median } from './lines.ts';

/** Text this many times as large as that of the body is a heading. */
const HEADING_SIZE = 1.1;
/** Gap between two words, in heights. */
const WORD_GAP = 0.1;
/** The library makes links of addresses in the text. */
const AUTOLINK = /\[([^[\]\n]*)\]\([^)[\n]*\)/g;
/** Gap between two lines of a paragraph, in heights. */
const LINE_GAP = 1.7;

/**
 * Browsers print code word by word, and the library takes what is so neatly below each other for a table, of which everything
 * else on the page becomes part. Such tables are taken apart again, into headings, paragraphs and code.
 */
export function tableEdits(
  markdown: string,
  items: readonly TextItem[],
  ranges: readonly (Range | undefined)[],
): Edit[] {
  if (isTypewritten(items)) return [];
  return [...markdown.matchAll(/(?:^\|[^|\n]*\|[^\n]*(?:\n|$))+/gm)].flatMap((match) => {
    const start = match.index;
    const end = start + match[0].length;
    const before = ranges.findLastIndex((range) => range !== undefined && range.end <= start);
    const after = ranges.findIndex((range) => range !== undefined && range.start >= end);
    const region = items.slice(before + 1, after === -1 ? undefined : after);
    const lines = linesOf(region);
    const isPartlyCode = codeBlocks(lines).length > 0 && lines.some((line) => !line.isFixed);
    // Nothing may get lost, or come twice.
    if (
      !isPartlyCode ||
      sortedLetters(match[0].replace(AUTOLINK, '$1')) !== sortedLetters(region.map((item) => item.text).join(''))
    )
      return [];
    return [{ start, end, text: `${layOut(lines, headingSizes(items))}\n\n` }];
  });
}

function sortedLetters(text: string): string {
  return [...lettersIn(text)].sort().join('');
}

/** Sizes of text larger than the body's, the largest first. */
function headingSizes(items: readonly TextItem[]): number[] {
  const body = median(items.flatMap((item) => Array<number>(item.text.length).fill(item.fontSize)));
  const sizes = items.filter((item) => item.text.trim() !== '').map((item) => Math.round(item.fontSize));
  return [...new Set(sizes)].filter((size) => size >= body * HEADING_SIZE).sort((a, b) => b - a);
}

function layOut(lines: readonly Line[], headings: readonly number[]): string {
  const blocks = codeBlocks(lines);
  const parts: string[] = [];
  let above: Line | undefined;
  for (const line of lines) {
    const block = blocks.find((each) => each.includes(line));
    const level = headings.indexOf(Math.round(Math.max(...line.pieces.map((piece) => piece.fontSize)))) + 1;
    if (block !== undefined) {
      if (block[0] === line) parts.push(fence(layOutCode(block)));
    } else if (level > 0) {
      parts.push(`${'#'.repeat(Math.min(6, level))} ${line.pieces.map((piece) => piece.text).join('')}`);
    } else if (above !== undefined && above.page === line.page && above.y - line.y < line.height * LINE_GAP) {
      parts.push(`${parts.pop()} ${textOf(line)}`);
    } else parts.push(textOf(line));
    above = block === undefined && level === 0 ? line : undefined;
  }
  return parts.join('\n\n');
}

function textOf(line: Line): string {
  let text = '';
  let right = Number.POSITIVE_INFINITY;
  for (const piece of line.pieces) {
    const isApart = piece.x - right > line.height * WORD_GAP && !/\s$/.test(text) && !/^\s/.test(piece.text);
    text += `${isApart ? ' ' : ''}${marked(piece)}`;
    right = piece.x + piece.width;
  }
  return text.trim();
}

function marked({ text, isBold, isItalic, isStrikeout }: TextItem): string {
  const marks = [isStrikeout ? '~~' : '', isBold ? '**' : '', isItalic ? '*' : ''];
  const said = text.trim();
  const [before = '', behind = ''] = said === '' ? [text] : text.split(said, 2);
  return said === '' ? text : `${before}${marks.join('')}${said}${marks.reverse().join('')}${behind}`;
}
