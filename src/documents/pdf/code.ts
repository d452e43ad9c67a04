import type { TextItem } from '@firecrawl/pdf-inspector';
import { fence } from '../markdown.ts';
import { type Edit, lettersIn, type Range } from './alignment.ts';

/** Above this share of fixed-pitch text a document is typewritten, not full of programs. */
const TYPEWRITTEN = 0.6;

/** The pieces of one line that is all fixed-pitch. */
interface Line {
  readonly page: number;
  readonly y: number;
  readonly items: readonly number[];
}

/** Lines of fixed-pitch text, which the library runs together or takes for tables, become code blocks again. */
export function codeEdits(
  markdown: string,
  items: readonly TextItem[],
  ranges: readonly (Range | undefined)[],
): Edit[] {
  const length = (all: readonly TextItem[]): number => all.reduce((sum, item) => sum + item.text.length, 0);
  if (length(items.filter(isFixed)) > length(items) * TYPEWRITTEN) return [];
  return blocksOf(codeLines(items), items).flatMap((block) => {
    const found = block.flatMap((line) => line.items.flatMap((index) => ranges[index] ?? []));
    const first = found[0];
    const last = found.at(-1);
    if (block.length < 2 || first === undefined || last === undefined) return [];
    const { start, end } = widen(markdown, { start: first.start, end: last.end });
    const code = layOut(block, items);
    // What is replaced has to be this code and nothing else, and no piece out of the middle of a sentence.
    if (lettersIn(markdown.slice(start, end)) !== lettersIn(code)) return [];
    if (
      !/(^|[\n:.]\s*)$/.test(markdown.slice(Math.max(0, start - 5), start)) ||
      !/^\s*(\n|$)/.test(markdown.slice(end, end + 5))
    )
      return [];
    return [{ start, end, text: `\n\n${fence(code)}\n\n` }];
  });
}

function isFixed(item: TextItem): boolean {
  return item.fixedPitch === true;
}

/** Lines in the order of the page on which everything is fixed-pitch. */
function codeLines(items: readonly TextItem[]): Line[] {
  const lines: (Line & { items: number[]; isCode: boolean })[] = [];
  items.forEach((item, index) => {
    if (item.itemType !== 'Text' || item.text.trim() === '') return;
    const last = lines.at(-1);
    if (last !== undefined && last.page === item.page && Math.abs(last.y - item.y) < 2) {
      last.items.push(index);
      last.isCode &&= isFixed(item);
    } else lines.push({ page: item.page, y: item.y, items: [index], isCode: isFixed(item) });
  });
  // A line that is not code ends a block: its place is kept empty.
  return lines.map((line) => (line.isCode ? line : { ...line, items: [] }));
}

function blocksOf(lines: readonly Line[], items: readonly TextItem[]): Line[][] {
  const blocks: Line[][] = [[]];
  for (const line of lines) {
    const block = blocks.at(-1) as Line[];
    const above = block.at(-1);
    const height = items[line.items[0] ?? -1]?.height ?? 0;
    const follows =
      above === undefined || (above.page === line.page && above.y - line.y > 0 && above.y - line.y < height * 4);
    if (line.items.length === 0) blocks.push([]);
    else if (follows) block.push(line);
    else blocks.push([line]);
  }
  return blocks.filter((block) => block.length > 0);
}

/** The lines as they stand on the page: each piece in its column, an empty line where there is a gap. */
function layOut(block: readonly Line[], items: readonly TextItem[]): string {
  const pieces = block.flatMap((line) => line.items.map((index) => items[index] as TextItem));
  const left = smallest(pieces.map((item) => item.x));
  const width = median(pieces.map((item) => item.width / Math.max(1, [...item.text].length))) || 6;
  const pitch = smallest(block.slice(1).map((line, index) => (block[index]?.y ?? 0) - line.y));
  let text = '';
  block.forEach((line, index) => {
    const above = block[index - 1];
    if (above !== undefined) text += above.y - line.y > pitch * 1.7 ? '\n\n' : '\n';
    let written = '';
    for (const item of line.items.map((each) => items[each] as TextItem)) {
      const column = Math.round((item.x - left) / width);
      written = written.padEnd(column) + item.text;
    }
    text += written.trimEnd();
  });
  return text;
}

function smallest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Takes in the markup and the punctuation that stand right at the ends, as far as the line goes. */
function widen(markdown: string, { start, end }: Range): Range {
  let from = start;
  let to = end;
  while (from > 0 && /[^\s\p{L}\p{N}.:;,!?]/u.test(markdown[from - 1] ?? '')) from -= 1;
  while (to < markdown.length && /[^\n\p{L}\p{N}]/u.test(markdown[to] ?? '')) to += 1;
  return { start: from, end: to };
}
