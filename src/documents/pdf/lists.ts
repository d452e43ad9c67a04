import type { StructureElementJs, TextItem } from '@firecrawl/pdf-inspector';
import type { Edit, Range } from './alignment.ts';
import { align } from './alignment.ts';

const BULLETS = '•◦▪‣●○■□◾◽⁃∙·';
const LIST_LINE = /^(?:[-*+]|\d{1,3}[.)])\s+\S/;
/** Points by which the left edges of one level may differ. */
const SAME_EDGE = 4;

/**
 * List items that the library runs into one paragraph, because their bullets are drawn and not written. A tagged PDF says
 * where they begin: a label without text, and then the item.
 */
export function listItemEdits(
  markdown: string,
  items: readonly TextItem[],
  ranges: readonly (Range | undefined)[],
  structure: readonly StructureElementJs[],
): Edit[] {
  const keyOf = (page: number, mark: number): string => `${page}:${mark}`;
  const written = new Set(items.flatMap((item) => (item.mcid === undefined ? [] : [keyOf(item.page, item.mcid)])));
  const begins = new Set(
    structure
      .filter(({ role, page, mcid }) => role === 'Lbl' && !written.has(keyOf(page, mcid)))
      .map(({ page, mcid }) => keyOf(page, mcid + 1)),
  );
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const key = item.mcid === undefined ? '' : keyOf(item.page, item.mcid);
    const range = ranges[index];
    if (range === undefined || !begins.has(key) || seen.has(key)) return [];
    seen.add(key);
    const start = beforeMarks(markdown, range.start);
    const line = markdown.slice(markdown.lastIndexOf('\n', start - 1) + 1, start);
    if (line.startsWith('|') || LIST_LINE.test(`${line}x`)) return [];
    return [{ start, end: start, text: line.trim() === '' ? '- ' : '\n- ' }];
  });
}

function beforeMarks(markdown: string, at: number): number {
  let start = at;
  while (start > 0 && /[*_~`(["'„“‚‘]/.test(markdown[start - 1] ?? '')) start -= 1;
  return markdown.slice(start - 3, start) === '<u>' ? start - 3 : start;
}

/** A level of a list while it is read: where its items begin, and the number of the last one. */
interface Level {
  readonly edge: number;
  readonly number: number | undefined;
}

/** Lists on one level, as the library writes them, get their levels back from where their items stand on the page. */
export function nestLists(markdown: string, items: readonly TextItem[]): string {
  const lines = splitBullets(markdown).split('\n');
  const texts = items.filter((item) => item.itemType === 'Text');
  const ranges = align(lines.join('\n'), texts);
  const margins = leftMargins(texts);
  let levels: Level[] = [];
  let isList = false;
  let start = 0;
  // Ranges come in the order of the text.
  let next = 0;
  let isFenced = false;
  return lines
    .map((line) => {
      const from = start;
      start += line.length + 1;
      if (line.startsWith('```')) isFenced = !isFenced;
      if (isFenced || !LIST_LINE.test(line)) {
        const isGlued = isList && line.trim() !== '';
        isList = false;
        if (line.trim() !== '') levels = [];
        // Right below a list it would be part of the last item.
        return isGlued ? `\n${line}` : line;
      }
      isList = true;
      while (next < ranges.length && (ranges[next]?.start ?? -1) < from) next += 1;
      const item = texts[next];
      if (item === undefined || (ranges[next]?.end ?? start) >= start) return line;
      const edge = edgeOf(item, texts[next + 1]) - (margins.get(item.page) ?? 0);
      levels = enter(levels, edge, /^\d+/.exec(line)?.[0]);
      return `${'    '.repeat(levels.length - 1)}${line}`;
    })
    .join('\n');
}

/** Where the text of an item begins, after its number, which may be a piece of its own. */
function edgeOf(item: TextItem, following: TextItem | undefined): number {
  const label = /^\s*(?:\d{1,3}|[a-z])[.)]\s*/.exec(item.text)?.[0] ?? '';
  if (label.length < item.text.length) return item.x + (item.width * label.length) / item.text.length;
  return following?.x ?? item.x;
}

/** The levels down to that of an item. An edge seen before is the level's; else a number that goes on stays where it was. */
function enter(levels: readonly Level[], edge: number, digits: string | undefined): Level[] {
  const number = digits === undefined ? undefined : Number(digits);
  const same = levels.findIndex((level) => Math.abs(level.edge - edge) <= SAME_EDGE);
  const before = number === undefined ? -1 : levels.findLastIndex((level) => level.number === number - 1);
  const known = same === -1 ? before : same;
  const outer = known === -1 ? levels.filter((level) => level.edge < edge) : levels.slice(0, known);
  return [...outer, { edge, number }];
}

/** Left and right pages have different margins. */
function leftMargins(texts: readonly TextItem[]): Map<number, number> {
  const margins = new Map<number, number>();
  for (const { page, x } of texts) margins.set(page, Math.min(x, margins.get(page) ?? x));
  return margins;
}

/** `- one ▪ two ▪ three` → an item each; `a) one`, which markdown does not know, becomes an item with its letter. */
function splitBullets(markdown: string): string {
  const bullet = new RegExp(`\\s+[${BULLETS}]\\s+(?=\\S)`, 'g');
  return markdown
    .split('\n')
    .map((line) => {
      const plain = line.replace(new RegExp(`^[${BULLETS}]\\s+`), '- ').replace(/^(?=[a-z][.)]\s+\S)/, '- ');
      return LIST_LINE.test(plain) ? plain.replace(bullet, '\n- ') : plain;
    })
    .join('\n');
}
