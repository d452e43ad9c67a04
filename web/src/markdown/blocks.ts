import type { MarkdownIt, StateBlock, StateCore, StateInline } from 'markdown-it';
import type { Surroundings } from './surroundings.ts';
import type { Words } from './words.ts';

/** What models write beyond CommonMark: alerts as on GitHub, footnotes, and `<details>` with a summary. */
export function withBlocks(grammar: MarkdownIt, words: Words): void {
  grammar.core.ruler.after('too long', 'alerts', alerts);
  grammar.renderer.rules['alert_title'] = (tokens, index) => {
    const kind = (tokens[index]?.content ?? 'note') as Alert;
    return `<p class="markdown-alert-title">${grammar.utils.escapeHtml(words[kind])}</p>\n`;
  };
  grammar.inline.ruler.before('link', 'footnote', footnote);
  grammar.renderer.rules['footnote'] = (tokens, index) =>
    `<sup>${grammar.utils.escapeHtml(tokens[index]?.content ?? '')}</sup>`;
  const rules = grammar.block.ruler.__rules__;
  const reference = rules.find((rule) => rule.name === 'reference')?.fn;
  if (reference !== undefined) {
    // What a footnote says is shown where it stands.
    grammar.block.ruler.at('reference', (state, line, end, silent) => {
      return !FOOTNOTE.test(lineOf(state, line)) && reference(state, line, end, silent);
    });
  }
  grammar.block.ruler.before('html_block', 'details', details, {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  });
  grammar.inline.ruler.before('html_inline', 'details end', detailsEnd);
}

type Alert = 'note' | 'tip' | 'important' | 'warning' | 'caution';
const ALERT = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*(?:\n|$)/i;

/** `> [!NOTE]` makes a quote an alert: https://docs.github.com/en/get-started/writing-on-github */
function alerts(state: StateCore): void {
  const { tokens } = state;
  // The first quote of a text that begins within a quote has begun before.
  const first = (state.env as Surroundings).inQuote === true ? 1 : 0;
  for (let index = first; index < tokens.length; index++) {
    const [quote, paragraph, inline] = tokens.slice(index, index + 3);
    if (quote?.type !== 'blockquote_open' || paragraph?.type !== 'paragraph_open' || inline?.type !== 'inline')
      continue;
    const match = ALERT.exec(inline.content);
    const kind = match?.[1]?.toLowerCase();
    if (match === null || kind === undefined) continue;
    quote.attrSet('class', `markdown-alert markdown-${kind}`);
    const title = new state.Token('alert_title', '', 0);
    title.content = kind;
    title.level = quote.level + 1;
    inline.content = inline.content.slice(match[0].length);
    tokens.splice(index + 1, inline.content === '' ? 3 : 0, title);
  }
}

/** Labels of words are left alone: `[^a-z]` is more often a pattern. */
export const FOOTNOTE = /^\[\^([a-z]{0,8}\d{1,3})\](?![([])/i;

/** `[^1]` is the number, raised, and so it is before what the footnote says. */
function footnote(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x5b || state.src.charCodeAt(state.pos + 1) !== 0x5e) return false;
  const match = FOOTNOTE.exec(state.src.slice(state.pos, Math.min(state.pos + 16, state.posMax)));
  if (match === null) return false;
  const isNote = state.pos === 0 || state.src[state.pos - 1] === '\n';
  if (!silent) state.push('footnote', '', 0).content = match[1] ?? '';
  state.pos += match[0].length + (isNote && state.src[state.pos + match[0].length] === ':' ? 1 : 0);
  return true;
}

const DETAILS = /^<details(?: open)?>\s*/i;
const SUMMARY = /^<summary>/i;
const SUMMARY_END = /<\/summary>\s*/i;
const END = /<\/details>\s*$/i;
/** Another one that begins behind the summary, or something behind the end: such a line stays text. */
const MORE = /<details\b|<\/details>\s*\S/i;

interface Head {
  readonly summary: string | undefined;
  /** What comes behind that in its line. */
  readonly rest: string;
}

/** What stands in a line that begins one, be it with its summary. */
function openingOf(line: string): Head | undefined {
  const opening = DETAILS.exec(line)?.[0];
  if (opening === undefined) return undefined;
  return opening === line ? { summary: undefined, rest: '' } : summaryOf(line.slice(opening.length));
}

/** What stands in a line that names one. Not by one pattern: with whatever may stand behind it that takes the square of the time. */
function summaryOf(line: string): Head | undefined {
  const begin = SUMMARY.exec(line)?.[0];
  const end = begin === undefined ? null : SUMMARY_END.exec(line);
  if (begin === undefined || end === null) return undefined;
  const rest = line.slice(end.index + end[0].length);
  return MORE.test(rest) ? undefined : { summary: line.slice(begin.length, end.index), rest };
}

/**
 * A block that folds, with blocks in it, up to its end or that of the text: whether a line belongs to it never depends on
 * what comes later. Within other blocks it stays text.
 */
function details(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const opening = openingOf(lineOf(state, startLine));
  if (opening === undefined) return false;
  if (silent) return true;
  if (state.level > 0) return false;
  const below =
    opening.summary === undefined && startLine + 1 < endLine ? summaryOf(lineOf(state, startLine + 1)) : undefined;
  const head = below ?? opening;
  const headLine = startLine + (below === undefined ? 0 : 1);
  const begin = headLine + (head.rest === '' ? 1 : 0);
  const restore = head.rest === '' ? undefined : beginLineAt(state, headLine, head.rest);
  const line = endOf(state, begin, endLine);
  const isClosed = line < endLine;
  // Words may stand before the end on its line.
  const end = isClosed && !/^<\/details>/i.test(lineOf(state, line)) ? line + 1 : line;

  const open = state.push('details_open', 'details', 1);
  open.map = [startLine, isClosed ? line + 1 : line];
  state.push('summary_open', 'summary', 1);
  const summary = state.push('inline', '', 0);
  summary.content = (head.summary ?? '').replace(/<\/?(?:b|strong|i|em|code|h[1-6])>/gi, '').trim() || '…';
  summary.map = [startLine, headLine + 1];
  summary.children = [];
  state.push('summary_close', 'summary', -1);
  const { lineMax } = state;
  state.lineMax = end;
  state.md.block.tokenize(state, begin, end);
  state.lineMax = lineMax;
  restore?.();
  state.push('details_close', 'details', -1);
  state.line = isClosed ? line + 1 : line;
  return true;
}

/** Lets a line begin with `rest`, its end; returns the way back. */
function beginLineAt(state: StateBlock, line: number, rest: string): () => void {
  const [begin, shift, indent] = [state.bMarks[line] ?? 0, state.tShift[line] ?? 0, state.sCount[line] ?? 0];
  state.bMarks[line] = (state.eMarks[line] ?? 0) - rest.length;
  state.tShift[line] = 0;
  state.sCount[line] = state.blkIndent;
  return () => {
    state.bMarks[line] = begin;
    state.tShift[line] = shift;
    state.sCount[line] = indent;
  };
}

/** The line with the end of what was opened before `begin`, outside of code. */
function endOf(state: StateBlock, begin: number, endLine: number): number {
  let depth = 1;
  let fence = '';
  for (let line = begin; line < endLine; line++) {
    const text = lineOf(state, line);
    const mark = /^(?:`{3,}|~{3,})/.exec(text)?.[0] ?? '';
    if (fence !== '') {
      if (mark.startsWith(fence) && text.slice(mark.length).trim() === '') fence = '';
    } else if (mark !== '') fence = mark;
    else if (openingOf(text) !== undefined) depth += END.test(text) ? 0 : 1;
    else if (END.test(text) && --depth === 0) return line;
  }
  return endLine;
}

/** An end that stands behind words is not shown. */
function detailsEnd(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x3c) return false;
  if (!/^<\/details>\s*$/i.test(state.src.slice(state.pos, state.posMax))) return false;
  if (!silent) state.push('text', '', 0);
  state.pos = state.posMax;
  return true;
}

function lineOf(state: StateBlock, line: number): string {
  return state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line] ?? 0);
}
