import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it';
import { formulaAt } from './dollars.ts';

/** Teaches the grammar formulas: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`, in lines and as blocks. */
export function withFormulas(grammar: MarkdownIt): void {
  // Before `escape`, which would take the backslash of `\(`.
  grammar.inline.ruler.before('escape', 'formula', inlineFormula);
  grammar.block.ruler.after('fence', 'formula', blockFormula, {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  });
}

function inlineFormula(state: StateInline, silent: boolean): boolean {
  const code = state.src.charCodeAt(state.pos);
  if (code !== 0x24 && code !== 0x5c) return false;
  const found = formulaAt(state.src, state.pos, state.posMax);
  if (found === undefined) {
    // All dollars at once, or the second of `$$` would be looked at again as a single one.
    if (code !== 0x24) return false;
    let end = state.pos + 1;
    while (end < state.posMax && state.src.charCodeAt(end) === 0x24) end++;
    if (end - state.pos < 2) return false;
    if (!silent) state.pending += state.src.slice(state.pos, end);
    state.pos = end;
    return true;
  }
  if (!silent) {
    const token = state.push('formula', '', 0);
    token.content = state.src.slice(found.from, found.to);
    token.markup = found.display ? '$$' : '$';
  }
  state.pos = found.end;
  return true;
}

/**
 * A block opens with `$$` or `\[` and closes at the end of a line. Like a fence, one whose opening mark stands alone goes
 * on until it is closed or the text ends, and any other until an empty line: whether a line belongs to it never depends on
 * what comes later, so that streaming finds the same blocks.
 */
function blockFormula(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const first = lineOf(state, startLine);
  const closing = first.startsWith('$$') ? '$$' : first.startsWith('\\[') ? '\\]' : undefined;
  if (closing === undefined) return false;
  const rest = first.slice(2);
  const alone = rest.trim() === '';
  const lines: string[] = [];
  let closed = false;
  let line = startLine;
  const closesHere = rest.indexOf(closing);
  if (closesHere >= 0) {
    // With more behind it on its line it is a formula within a paragraph.
    if (!isEnd(rest.slice(closesHere + 2)) || rest.slice(0, closesHere).trim() === '') return false;
    lines.push(rest.slice(0, closesHere));
    closed = true;
  } else if (!alone) lines.push(rest);
  if (silent) return true;
  while (!closed && ++line < endLine) {
    if (state.isEmpty(line) && !alone) break;
    if (!state.isEmpty(line) && (state.sCount[line] ?? 0) < state.blkIndent) break;
    const text = lineOf(state, line);
    const at = text.indexOf(closing);
    closed = at >= 0 && isEnd(text.slice(at + 2));
    lines.push(closed ? text.slice(0, at) : text);
  }
  const end = closed ? line + 1 : Math.min(line, endLine);
  const token = state.push('formula_block', '', 0);
  token.map = [startLine, end];
  token.content = lines.join('\n').trim();
  token.markup = '$$';
  token.meta = { open: !closed };
  state.line = end;
  return true;
}

/** What may stand behind a closing mark: nothing, or the comma or full stop of the sentence around it. */
function isEnd(text: string): boolean {
  return /^[.,;:]?$/.test(text.trim());
}

function lineOf(state: StateBlock, line: number): string {
  return state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]);
}
