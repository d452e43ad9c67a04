import createMarkdownIt, { type MarkdownIt, type StateCore, type StateInline, type Token } from 'markdown-it';
import { linkAddress } from './addresses.ts';
import { withBlocks } from './blocks.ts';
import { withEastAsianEmphasis } from './emphasis.ts';
import { withFormulas } from './formulas.ts';
import { withGuards } from './guards.ts';
import { limits } from './limits.ts';
import { withMarkup } from './markup.ts';
import { mediaAt } from './media.ts';
import { mend, PENDING } from './mend.ts';
import type { Surroundings } from './surroundings.ts';
import type { Words } from './words.ts';

const grammars = new Map<Words, MarkdownIt>();

/** The grammar for these words, made once: a chat has thousands of texts. */
export function grammarFor(words: Words): MarkdownIt {
  const known = grammars.get(words) ?? createGrammar(words);
  grammars.set(words, known);
  return known;
}

/** CommonMark with tables, struck text, task lists, formulas and what `blocks.ts` has; of HTML only what Sluice writes itself. */
export function createGrammar(words: Words): MarkdownIt {
  const grammar = createMarkdownIt({ html: false, linkify: true, breaks: true });
  grammar.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  // Every address becomes a link here, and `markup.ts` decides where it may lead.
  grammar.validateLink = () => true;
  grammar.inline.ruler.at('html_inline', media);
  grammar.disable('html_block');
  withFormulas(grammar);
  withGuards(grammar);
  grammar.core.ruler.after('too long', 'mend', mendLast);
  withBlocks(grammar, words);
  withEastAsianEmphasis(grammar);
  grammar.core.ruler.push('finish', finish);
  withMarkup(grammar, words);
  return grammar;
}

function media(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x3c) return false;
  const found = mediaAt(state.src.slice(0, state.posMax), state.pos);
  if (found === undefined) return false;
  if (!silent) state.push('media', '', 0).meta = found.markup;
  state.pos += found.length;
  return true;
}

/** Closes, in the very last run of a text that goes on, what is open. */
function mendLast(state: StateCore): void {
  const { streaming } = state.env as Surroundings;
  if (streaming !== true || /\n[ \t>]*\n[ \t>]*$/.test(state.src.slice(-200))) return;
  const last = state.tokens.findLastIndex((token) => token.nesting !== -1 && !isEmptyCell(token, state.tokens));
  const token = state.tokens[last];
  if (token?.type !== 'inline') return;
  // Paragraphs go on in the next line, headings and cells do not.
  if (state.src.endsWith('\n') && state.tokens[last - 1]?.type !== 'paragraph_open') return;
  const { text, formula } = mend(token.content);
  token.content = text;
  token.meta = { openFormula: formula };
}

/** Cells that a row does not have yet come as empty ones. */
function isEmptyCell(token: Token, tokens: readonly Token[]): boolean {
  if (token.type === 'inline') return token.content === '';
  return token.type === 'td_open' && tokens[tokens.indexOf(token) + 1]?.content === '';
}

function finish(state: StateCore): void {
  const tokens = state.tokens;
  for (const [index, token] of tokens.entries()) {
    // Tight or loose would only be known at the end of a list, and change what stands there already.
    if (token.type.startsWith('paragraph_')) token.hidden = false;
    if (token.level === 0 && token.nesting === 1 && token.tag !== 'table') token.attrSet('dir', 'auto');
    if (token.type === 'inline' && token.children !== null) {
      if (tokens[index - 2]?.type === 'list_item_open') task(state, token, tokens[index - 2]);
      if ((token.meta as { openFormula?: boolean } | null)?.openFormula === true) {
        const formula = token.children.findLast((child) => child.type === 'formula');
        if (formula !== undefined) formula.meta = { open: true };
      }
      decideLinks(token.children);
      const formulas = token.children.filter((child) => child.type === 'formula').length;
      if (depthOf(token.children) > limits.inlineNesting || formulas > limits.formulas) token.type = 'long_inline';
    }
  }
}

/** `[ ]` and `[x]` at the begin of an item. */
function task(state: StateCore, inline: Token, item: Token | undefined): void {
  const first = inline.children?.[0];
  const match = first?.type === 'text' ? /^\[([ xX])\](?:\s+|$)/.exec(first.content) : null;
  if (match === null || first === undefined) return;
  first.content = first.content.slice(match[0].length);
  const box = new state.Token('task', '', 0);
  box.meta = { done: match[1] !== ' ' };
  inline.children?.unshift(box);
  item?.attrJoin('class', 'markdown-task');
}

function depthOf(children: readonly Token[]): number {
  let depth = 0;
  let most = 0;
  for (const { nesting } of children) {
    depth += nesting;
    most = Math.max(most, depth);
  }
  return most;
}

/** Says of both ends of each link where it leads; `null` stands for nowhere. */
function decideLinks(children: readonly Token[]): void {
  const open: (string | null)[] = [];
  for (const token of children) {
    if (token.type === 'link_open') {
      const href = String(token.attrGet('href') ?? '');
      const address = href === PENDING ? PENDING : (linkAddress(href) ?? null);
      open.push(address);
      token.meta = { address };
    } else if (token.type === 'link_close') token.meta = { address: open.pop() ?? null };
  }
}
