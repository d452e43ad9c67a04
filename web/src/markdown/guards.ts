import type { MarkdownIt, StateBlock, StateCore, Token } from 'markdown-it';
import { limits } from './limits.ts';

/** Keeps what would take too long to read, or to lay out, as plain text. */
export function withGuards(grammar: MarkdownIt): void {
  grammar.set({ maxNesting: limits.nesting * 4 });
  grammar.block.ruler.before('table', 'too deep', tooDeep);
  const rules = grammar.block.ruler.__rules__;
  const table = rules.find((rule) => rule.name === 'table');
  if (table !== undefined) {
    const original = table.fn;
    grammar.block.ruler.at(
      'table',
      (state, startLine, endLine, silent) => !tooWide(state, startLine) && original(state, startLine, endLine, silent),
      { alt: table.alt },
    );
  }
  grammar.core.ruler.after('block', 'too long', tooLong);
}

/** Takes everything that is left inside a container that is nested too deeply; the parser itself would drop it. */
function tooDeep(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (silent || state.level < limits.nesting) return false;
  const token = state.push('plain', '', 0);
  token.content = state.getLines(startLine, endLine, state.blkIndent, false).trim();
  token.map = [startLine, endLine];
  state.line = endLine;
  return true;
}

function tooWide(state: StateBlock, line: number): boolean {
  const begin = state.bMarks[line] ?? 0;
  const end = state.eMarks[line] ?? 0;
  if (end - begin > limits.block) return true;
  let columns = 0;
  for (let at = begin; at < end; at++) if (state.src.charCodeAt(at) === 0x7c) columns++;
  return columns > limits.tableColumns;
}

/** No word of any language, and no address either that a link would take. */
const LONG_WORD = /\S{4000}/;

/** Replaces blocks, and items and parts of the outermost container, that are too long by their text. */
function tooLong(state: StateCore): void {
  for (const token of state.tokens) {
    if (token.type !== 'inline') continue;
    if (token.content.length > limits.inline || LONG_WORD.test(token.content)) token.type = 'long_inline';
  }
  if (state.src.length <= limits.block) return;
  const starts = lineStarts(state.src);
  const kept: Token[] = [];
  const tokens = state.tokens;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) continue;
    const text = measured(token) ? sourceOf(token, state.src, starts) : '';
    if (text.length <= limits.block) {
      kept.push(token);
      continue;
    }
    const plain = new state.Token('plain', '', 0);
    plain.content = text;
    plain.level = token.level;
    plain.map = token.map;
    let end = index;
    if (token.nesting === 1) {
      while (end < tokens.length && !(tokens[end]?.nesting === -1 && tokens[end]?.level === token.level)) end++;
    }
    const closing = tokens[end];
    if (token.type === 'list_item_open' && closing !== undefined) kept.push(token, plain, closing);
    else kept.push(plain);
    index = end;
  }
  state.tokens = kept;
}

/** Containers are measured by their parts, tables by their rows, and code has a guard of its own. */
function measured(token: Token): boolean {
  if (token.map === null || token.nesting === -1) return false;
  const container = /^(?:bullet_list|ordered_list|blockquote|table)_open$/.test(token.type) && token.level === 0;
  const code = token.type === 'fence' || token.type === 'code_block';
  return token.level <= 1 && !container && !code && !/^(?:tbody|thead|inline)/.test(token.type);
}

function sourceOf(token: Token, source: string, starts: readonly number[]): string {
  const [from, to] = token.map ?? [0, 0];
  return source.slice(starts[from] ?? 0, starts[to] ?? source.length).trim();
}

/** Where each line begins. */
export function lineStarts(source: string): number[] {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
