import { Parser } from 'htmlparser2';

/** What browsers stop at themselves; what people write rarely gets to a tenth of it. */
export const DEEPEST_HTML = 512;

/**
 * Elements that the parser (10.1) keeps in mind for good when they end without a tag of their own, as `<svg/>` does: it then
 * takes time with the square of their number.
 */
const REMEMBERED: ReadonlySet<string> = new Set(
  'svg math mi mo mn ms mtext annotation-xml foreignobject desc title'.split(' '),
);
const MOST_REMEMBERED = 5_000;

/**
 * Whether elements of a page nest deeper than `DEEPEST_HTML`. Whatever walks through a tree takes time with the square of its
 * depth, or worse, so this is asked before there is one. It counts with the parser that builds the tree, so that both agree on
 * what nests, and stops where the limit is: the time it takes grows with the length of the page only.
 */
export function nestsTooDeep(html: string): boolean {
  let depth = 0;
  let remembered = 0;
  let isTooDeep = false;
  const parser = new Parser({
    onopentagname(name) {
      depth += 1;
      if (REMEMBERED.has(name)) remembered += 1;
      if (depth <= DEEPEST_HTML && remembered <= MOST_REMEMBERED) return;
      isTooDeep = true;
      parser.pause();
    },
    onclosetag(name, isImplied) {
      depth -= 1;
      if (!isImplied && REMEMBERED.has(name)) remembered -= 1;
    },
  });
  parser.write(html);
  return isTooDeep;
}
