import { FOOTNOTE } from './blocks.ts';
import { formulaAt, looksLikeMaths } from './dollars.ts';
import { isEastAsian } from './emphasis.ts';

/** Where a link leads whose address has not come yet. */
export const PENDING = 'sluice-pending:';

interface Mended {
  readonly text: string;
  /** The last formula of the text is still being written. */
  readonly formula: boolean;
}

interface Open {
  readonly mark: string;
  /** Where the text behind the mark begins. */
  readonly from: number;
  /** Of a bracket: where it stands; -1 for other marks. */
  readonly bracket: number;
}

/** How far back an open bracket may be to be taken for a link on its way. */
const LONGEST_LABEL = 300;
/** How many marks may be open at once; more of them are nobody's emphasis. */
const MOST = 20;

/**
 * Makes a run of inline markup whole that is still being written: closes code, emphasis and formulas, turns an incomplete
 * link into its text, hides an incomplete picture and marks at the end that have nothing behind them yet. One pass.
 */
export function mend(content: string): Mended {
  const open: Open[] = [];
  let at = 0;
  while (at < content.length) {
    const char = content[at] ?? '';
    if (char === '\\') {
      const formula = formulaAt(content, at);
      if (formula !== undefined) at = formula.end;
      else if (/[([]/.test(content[at + 1] ?? ''))
        return openFormula(content, at, content[at + 1] === '(' ? '\\)' : '\\]', open);
      else if (at + 1 === content.length) return closed(content.slice(0, at), open);
      else at += 2;
    } else if (char === '`') {
      const run = runLength(content, at);
      const end = closingRun(content, at + run, run);
      if (end < 0) return openCode(content, at, run, open);
      at = end;
    } else if (char === '$') {
      const formula = formulaAt(content, at);
      if (at + 1 === content.length) return closed(content.slice(0, at), open);
      const double = content[at + 1] === '$';
      if (formula !== undefined) at = formula.end;
      else if (double) return openFormula(content, at, '$$', open);
      else if (looksLikeMaths(content.slice(at + 1, at + 1_100))) return openFormula(content, at, '$', open);
      else at++;
    } else if (char === '*' || char === '_' || char === '~') {
      const run = runLength(content, at);
      if (at + run === content.length) return danglingRun(content, at, char.repeat(run), open);
      emphasis(content, at, run, open);
      at += run;
    } else if (char === '[' && content[at + 1] === '^') {
      const footnote = FOOTNOTE.exec(content.slice(at, at + 16));
      if (footnote === null && /^\[\^[a-z]{0,8}\d{0,3}$/i.test(content.slice(at)))
        return closed(content.slice(0, at), open);
      at += footnote?.[0].length ?? 1;
    } else if (char === '[') {
      const picture = content[at - 1] === '!';
      open.push({ mark: picture ? '!' : '[', from: at + 1, bracket: picture ? at - 1 : at });
      at++;
    } else if (char === ']') {
      const bracket = open.findLastIndex((each) => each.bracket >= 0);
      const opener = open[bracket];
      const label = at;
      at++;
      if (opener === undefined) continue;
      const after = content[at];
      if (after === undefined) return incompleteLink(content, opener, label, open.slice(0, bracket));
      if (after === '(') {
        const end = destinationEnd(content, at);
        if (end < 0) return incompleteLink(content, opener, label, open.slice(0, bracket));
        at = end;
      } else if (after === '[') {
        const end = content.indexOf(']', at);
        if (end < 0) return incompleteLink(content, opener, label, open.slice(0, bracket));
        at = end + 1;
      }
      open.length = bracket;
    } else if (char === '<') {
      if (content.indexOf('>', at) < 0 || isPartOfMedia(content, at)) {
        const rest = content.slice(at);
        if (/^<(?:https?:[^\s<>]*|mailto:[^\s<>]*)$/.test(rest))
          return closed(content.slice(0, at) + rest.slice(1), open);
        if (/^<(?:\/?[a-z]{0,7}|(?:a|img|video|audio|br)[\s/>][\s\S]*)$/i.test(rest) && rest.length < 6_000) {
          return closed(content.slice(0, at), open);
        }
      }
      at++;
    } else at++;
  }
  return closed(content, open);
}

/** Whether markup of media has begun that ends in more than one tag, of which the last has not come. */
function isPartOfMedia(content: string, at: number): boolean {
  const rest = content.slice(at, at + 9).toLowerCase();
  const closing = /^<a\s/.test(rest)
    ? '</a>'
    : /^<video\s/.test(rest)
      ? '</video>'
      : /^<audio\s/.test(rest)
        ? '</audio>'
        : '';
  return closing !== '' && !content.slice(at).toLowerCase().includes(closing);
}

function runLength(content: string, at: number): number {
  let end = at + 1;
  while (content[end] === content[at]) end++;
  return end - at;
}

/** The index behind the next run of exactly `length` backticks. */
function closingRun(content: string, from: number, length: number): number {
  for (let at = content.indexOf('`', from); at >= 0; ) {
    const run = runLength(content, at);
    if (run === length) return at + run;
    at = content.indexOf('`', at + run);
  }
  return -1;
}

function openCode(content: string, at: number, run: number, open: readonly Open[]): Mended {
  // A shorter run at the end is the first half of the closing one.
  const inside = content.slice(at + run).replace(/(?<!`)`+$/, '');
  if (inside.trim() === '') return closed(content.slice(0, at), open);
  return closed(content.slice(0, at + run) + inside + (run > 1 ? ' ' : '') + '`'.repeat(run), open, false, false);
}

function openFormula(content: string, at: number, closing: string, open: readonly Open[]): Mended {
  const begin = closing === '$' ? 1 : 2;
  let inside = content.slice(at + begin).trimEnd();
  // The first half of the closing mark.
  if (closing !== '$') inside = inside.replace(closing === '$$' ? /\$$/ : /\\$/, '').trimEnd();
  else inside = inside.replace(/\\$/, '').trimEnd();
  if (inside === '') return closed(content.slice(0, at), open);
  return closed(content.slice(0, at + begin) + inside + closing, open, true, false);
}

function emphasis(content: string, at: number, run: number, open: Open[]): void {
  const char = content[at] ?? '';
  const before = content[at - 1] ?? ' ';
  const after = content[at + run] ?? ' ';
  const inWord = /[\p{L}\p{N}]/u.test(before) && !isEastAsian(before);
  let left = char === '~' ? (run === 2 ? 2 : 0) : run;
  if (!/\s/.test(before) && !(char === '_' && /[\p{L}\p{N}]/u.test(after))) {
    while (left > 0) {
      const opener = open.findLastIndex((each) => each.mark.startsWith(char));
      const mark = open[opener]?.mark;
      if (mark === undefined || mark.length > left) break;
      open.length = opener;
      left -= mark.length;
    }
  }
  // Within a word a star is more often a product than emphasis.
  if (left === 0 || /\s/.test(after) || inWord || open.length >= MOST) return;
  for (; left >= 2; left -= 2) open.push({ mark: char.repeat(2), from: at + run, bracket: -1 });
  if (left === 1 && char !== '~') open.push({ mark: char, from: at + run, bracket: -1 });
}

/** Marks at the very end close what they can; what is left of them opens or closes something that is not there yet. */
function danglingRun(content: string, at: number, run: string, open: readonly Open[]): Mended {
  const rest = [...open];
  let left = run.length;
  let kept = '';
  while (left > 0 && !/\s/.test(content[at - 1] ?? ' ')) {
    const top = rest.at(-1);
    if (top === undefined || !top.mark.startsWith(run[0] ?? '') || top.mark.length > left) break;
    kept += top.mark;
    left -= top.mark.length;
    rest.pop();
  }
  return closed(content.slice(0, at) + kept, rest);
}

function incompleteLink(content: string, opener: Open, label: number, open: readonly Open[]): Mended {
  if (opener.mark === '!') return closed(content.slice(0, opener.bracket), open);
  if (label === opener.from) return closed(content.slice(0, opener.bracket), open);
  return closed(`${content.slice(0, label)}](${PENDING})`, open, false, false);
}

/** The index behind the parenthesis that closes the one at `at`; -1 when it has not come. */
function destinationEnd(content: string, at: number): number {
  let depth = 0;
  for (let index = at; index < content.length; index++) {
    const char = content[index];
    if (char === '\\') index++;
    else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return index + 1;
    else if (char === '\n' && content[index + 1] === '\n') return index;
  }
  return -1;
}

/** Closes everything that is open, the innermost first. */
function closed(content: string, open: readonly Open[], formula = false, trim = true): Mended {
  let text = open.length > 0 && trim ? content.trimEnd() : content;
  const bracket = open.findLastIndex((each) => each.bracket >= 0 && content.length - each.from < LONGEST_LABEL);
  for (const [index, each] of [...open.entries()].reverse()) {
    if (each.mark === '!') {
      if (index === bracket) text = text.slice(0, each.bracket);
    } else if (each.bracket >= 0) {
      if (index !== bracket) continue;
      text = text.length <= each.from ? text.slice(0, each.bracket) : `${text}](${PENDING})`;
    } else if (text.trimEnd().length > each.from) text = text.trimEnd() + each.mark;
    else text = text.slice(0, each.from - each.mark.length);
  }
  return { text, formula };
}
