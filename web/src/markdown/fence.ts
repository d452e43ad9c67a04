import { hasPiles, withoutPiles } from './piles.ts';

/** A block of code of the outermost level that is being written: its lines are looked at once each. */
export interface Fence {
  read(text: string, done: boolean): FenceRead;
  /** The host that shows what was read. */
  host(read: FenceRead): HTMLElement;
}

interface FenceRead {
  readonly code: string;
  readonly closed: boolean;
  /** Where the text behind the fence begins. */
  readonly end: number;
}

/** The blanks of the grammar: JavaScript's `trim` and `^` know more, and further ends of lines. */
const BLANK = /^[ \t]*$/;
const INDENTED = /(^|\n)([ \t]+)/g;

/**
 * The blanks before a line of code, without `indent` columns of them. A tab reaches to the next of the stops that stand four
 * columns apart; what is left of one that is taken away in part are spaces (CommonMark 2.2 and 4.5).
 */
function withoutIndent(blanks: string, indent: number): string {
  let column = 0;
  let at = 0;
  for (; at < blanks.length && column < indent; at++) column += blanks[at] === '\t' ? 4 - (column % 4) : 1;
  return ' '.repeat(Math.max(0, column - indent)) + blanks.slice(at);
}

/** What stands behind the marks of a fence → the language. */
export function languageOf(info: string): string {
  return /^[\p{L}\p{N}_+#.-]{0,50}/u.exec(info.trim())?.[0] ?? '';
}

/** A fence whose first line begins at `offset` of `text` and is there in full. */
export function createFence(text: string, offset: number, plainly: (text: string) => string): Fence {
  const first = text.slice(offset, text.indexOf('\n', offset));
  const match = /^( *)(`+(?!`)|~+(?!~))(.*)$/s.exec(first);
  const indent = match?.[1]?.length ?? 0;
  const mark = match?.[2] ?? '```';
  const language = languageOf(plainly(match?.[3] ?? ''));
  const begin = offset + first.length + 1;
  const closing = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}[ \\t]*$`);
  const closingSoon = new RegExp(`^ {0,3}${mark[0]}*[ \\t]*$`);
  let at = begin;

  /** Up to where no pile of marks was found; -1 once there was one. */
  let clean = begin;
  const uncrowded = (whole: string, end: number) => {
    const code = whole.slice(begin, end);
    if (clean >= 0) clean = hasPiles(whole.slice(Math.max(begin, clean - 30), end)) ? -1 : end;
    return clean < 0 ? withoutPiles(code) : code;
  };

  const codeUpTo = (whole: string, end: number) => {
    const code = uncrowded(whole, end);
    return indent === 0 ? code : code.replace(INDENTED, (_, line, blanks) => line + withoutIndent(blanks, indent));
  };

  return {
    read: (whole, done) => {
      for (;;) {
        const end = whole.indexOf('\n', at);
        const line = whole.slice(at, end < 0 ? undefined : end);
        if (end < 0 && !done) {
          // A line of marks may turn out to close the fence.
          return { code: codeUpTo(whole, closingSoon.test(line) ? at : whole.length), closed: false, end: at };
        }
        if (closing.test(line))
          return { code: codeUpTo(whole, at), closed: true, end: end < 0 ? whole.length : end + 1 };
        // As the grammar does, a last line of nothing but spaces is none.
        if (end < 0)
          return { code: codeUpTo(whole, BLANK.test(line) ? at : whole.length), closed: true, end: whole.length };
        at = end + 1;
      }
    },
    host: ({ code, closed }) => {
      const host = document.createElement('div');
      host.dataset['host'] = 'code';
      host.dataset['info'] = language;
      if (!closed) host.dataset['open'] = '';
      host.textContent = code;
      return host;
    },
  };
}
