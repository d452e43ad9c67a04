import type { TextItem } from '@firecrawl/pdf-inspector';
import { link, safeAddress } from '../markdown.ts';
import { align, type Edit } from './alignment.ts';

/** Points by which text may stick out of the area of its link. */
const SLACK = 2;

/** A word with its place on the page. */
type Word = Pick<TextItem, 'text' | 'page' | 'x' | 'y' | 'width'>;

/** Links are areas over the pages. The words below each become a link; areas inside the document are left out. */
export function linkEdits(markdown: string, items: readonly TextItem[]): Edit[] {
  const areas = Map.groupBy(
    items.filter((item) => item.itemType === 'Link' && /^(https?:|mailto:)/i.test(item.linkUrl ?? '')),
    (item) => item.page,
  );
  if (areas.size === 0) return [];
  const words = items.filter((item) => item.itemType === 'Text').flatMap(wordsOf);
  const ranges = align(markdown, words);
  const edits: (Edit & { address: string })[] = [];
  words.forEach((word, index) => {
    const range = ranges[index];
    const address = areas.get(word.page)?.find((area) => covers(area, word))?.linkUrl;
    if (range === undefined || address === undefined || safeAddress(address) === undefined) return;
    const last = edits.at(-1);
    // Words of one link follow each other, on the same line or the next.
    if (last?.address === address && /^[^\p{L}\p{N}\n]{0,12}$/u.test(markdown.slice(last.end, range.start))) {
      edits[edits.length - 1] = { ...last, end: range.end };
    } else edits.push({ ...range, text: '', address });
  });
  return edits.flatMap(({ start, end, address }) => {
    const words = markdown.slice(start, end).replace(/<\/?u>/g, '');
    // An address that is written out needs no link to itself.
    if (address.includes(words.replace(/\/$/, '')) && /[./]/.test(words)) return [];
    return [{ start, end, text: link(words, address) }];
  });
}

/** A piece of text as words, each as wide as its share of the letters. */
function wordsOf(item: TextItem): Word[] {
  const width = item.width / Math.max(1, item.text.length);
  return [...item.text.matchAll(/\S+/g)].map((match) => ({
    text: match[0],
    page: item.page,
    x: item.x + match.index * width,
    y: item.y,
    width: match[0].length * width,
  }));
}

/** Whether the middle of a word is inside; the text's baseline stands above the lower edge of its area. */
function covers(area: TextItem, word: Word): boolean {
  const middle = word.x + word.width / 2;
  return (
    middle >= area.x - SLACK &&
    middle <= area.x + area.width + SLACK &&
    word.y >= area.y - SLACK &&
    word.y <= area.y + area.height
  );
}
