import { limits } from './limits.ts';

/** A formula within a line: where its source begins and ends, and the index behind its closing mark. */
export interface Formula {
  readonly from: number;
  readonly to: number;
  readonly end: number;
  readonly display: boolean;
}

/** Looks for a formula that begins at `at` with `$`, `$$`, `\(` or `\[`. Undefined when none does, or none closes. */
export function formulaAt(text: string, at: number, max = text.length): Formula | undefined {
  const mark = text.charCodeAt(at);
  const next = text[at + 1];
  if (mark === 0x5c) {
    if (next === '(') return between(text, at + 2, '\\)', max, false);
    if (next === '[') return between(text, at + 2, '\\]', max, true);
    return undefined;
  }
  if (mark !== 0x24) return undefined;
  if (next === '$') return between(text, at + 2, '$$', max, true);
  return singleDollar(text, at, max);
}

function between(text: string, from: number, closing: string, max: number, display: boolean): Formula | undefined {
  const window = text.slice(from, Math.min(max, from + limits.maths));
  const to = window.indexOf(closing);
  if (to < 0 || window.slice(0, to).trim() === '') return undefined;
  return { from, to: from + to, end: from + to + closing.length, display };
}

/** `$5 and $10` is money: a formula hugs its dollars, no digit follows the second, and it is not a number and a word. */
function singleDollar(text: string, at: number, max: number): Formula | undefined {
  const from = at + 1;
  if (from >= max || /[\s$]/.test(text[from] ?? ' ')) return undefined;
  const last = Math.min(max, from + 1_000);
  for (let to = from; to < last; to++) {
    const code = text.charCodeAt(to);
    if (code === 0x5c) to++;
    else if (code === 0x24) {
      const after = to + 1 < max ? (text[to + 1] ?? '') : '';
      if (/\s/.test(text[to - 1] ?? '') || /[\d$]/.test(after)) return undefined;
      const source = text.slice(from, to);
      if (/\p{L}/u.test(after) && /[/:.,;=+-]$/.test(source)) return undefined;
      if (/^[\d.,]+\s?(?:[kKmM]?\s+\p{L}{2,}|[-–]\s*$)/u.test(source) && !/[\\^_=]/.test(source)) return undefined;
      return { from, to, end: to + 1, display: false };
    }
  }
  return undefined;
}

/** Whether the text behind a dollar that is not closed yet is a formula on its way, rather than money or a variable. */
export function looksLikeMaths(source: string): boolean {
  return /^[^\s$]/.test(source) && source.length < 1_000 && /\\[a-zA-Z]|[\^_=]/.test(source);
}
