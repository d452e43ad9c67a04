import type { TextItem } from '@firecrawl/pdf-inspector';
import { fence } from '../markdown.ts';
import { type Edit, lettersIn, type Range } from './alignment.ts';
import { codeBlocks, isTypewritten, layOutCode, linesOf } from './lines.ts';

/** Lines of fixed-pitch text, which the library runs together or takes for tables, become code blocks again. */
export function codeEdits(
  markdown: string,
  items: readonly TextItem[],
  ranges: readonly (Range | undefined)[],
): Edit[] {
  if (isTypewritten(items)) return [];
  return codeBlocks(linesOf(items)).flatMap((block) => {
    const found = block.flatMap((line) => line.pieces.flatMap((piece) => ranges[piece.index] ?? []));
    const first = found[0];
    const last = found.at(-1);
    if (first === undefined || last === undefined) return [];
    const range = widen(markdown, { start: first.start, end: last.end });
    const code = layOutCode(block);
    // What is replaced has to be this code and nothing else.
    if (lettersIn(markdown.slice(range.start, range.end)) !== lettersIn(code)) return [];
    return isInSentence(markdown, range) ? [] : [{ ...range, text: `\n\n${fence(code)}\n\n` }];
  });
}

/** Takes in the markup and the punctuation that stand right at the ends, as far as the line goes. */
function widen(markdown: string, { start, end }: Range): Range {
  let from = start;
  let to = end;
  while (from > 0 && /[^\s\p{L}\p{N}.:;,!?]/u.test(markdown[from - 1] ?? '')) from -= 1;
  while (to < markdown.length && /[^\n\p{L}\p{N}]/u.test(markdown[to] ?? '')) to += 1;
  return { start: from, end: to };
}

/** Whether it stands in the middle of a sentence, where a name of a file or a function is no block of code. */
function isInSentence(markdown: string, { start, end }: Range): boolean {
  const before = markdown.slice(Math.max(0, start - 5), start);
  const behind = markdown.slice(end, end + 5);
  return !/(^|[\n:.]\s*)$/.test(before) || /^\s*\p{Ll}/u.test(behind);
}
