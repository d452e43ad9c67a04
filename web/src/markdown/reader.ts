import type { MarkdownIt, Token } from 'markdown-it';
import { lineStarts } from './guards.ts';

/** A container of the outermost level whose parts are finished one by one, so that a long list costs no more than a long text. */
export type Container = 'list' | 'quote' | 'table';

/** A piece of the text that is rendered by itself: a block, an item of a list, a part of a quote, a row of a table. */
interface Unit {
  readonly line: number;
  readonly type: string;
  readonly container: Container | undefined;
  /** It is not the first one of its container. */
  readonly continues: boolean;
  /** Where its container begins. */
  readonly begin: number;
}

/** What of a source is finished. */
export interface Cut {
  /** How much of the source is finished. */
  readonly at: number;
  /** The container that goes on behind the cut. */
  readonly open?: Container;
  /** Of a table that goes on: its head and delimiters, to be repeated before its further rows. */
  readonly head?: string;
  /** What is left begins with a fence. */
  readonly fence: boolean;
}

/**
 * Says how much of `source`, which ends with a whole line, is finished: everything before its last unit, since a unit
 * only ends where another begins. Lines with definitions of links directly before that unit stay with it, for they may go
 * on in it. `skip` lines at the begin are repeated from an open table, and belong to no unit.
 */
export function cutBeforeLast(grammar: MarkdownIt, source: string, skip: number): Cut {
  const tokens: Token[] = [];
  grammar.block.parse(source, grammar, { references: Object.create(null) }, tokens);
  const units = unitsOf(tokens).filter((unit) => unit.line >= skip);
  const last = units.at(-1);
  if (last === undefined) return { at: -1, fence: false };
  const starts = lineStarts(source);
  const lineAt = (line: number) => source.slice(starts[line] ?? 0, starts[line + 1] ?? source.length);
  const covered = coveredLines(tokens);
  // The first part of a container does not end before it begins: a quote may open with an empty line.
  const isFirst = last.container !== undefined && !last.continues;
  let line = isFirst ? last.begin : last.line;
  // A definition's title may go on in what looks like a paragraph.
  const mayContinue = /^(?:paragraph|heading|table)_open$/.test(last.type);
  while (mayContinue && line > skip && !covered(line - 1) && !/^[\s>]*$/.test(lineAt(line - 1))) line--;
  // What looks like a fence is the head of a table if delimiters follow.
  const mayBeHead = lineAt(last.line).includes('|') && (starts[last.line + 1] ?? source.length) >= source.length;
  const cut = {
    at: starts[line] ?? 0,
    fence: last.type === 'fence' && last.container === undefined && line === last.line && !mayBeHead,
  };
  if (!last.continues || last.container === undefined) return cut;
  const head = lineAt(last.begin) + lineAt(last.begin + 1);
  return { ...cut, open: last.container, ...(last.container === 'table' && { head }) };
}

function unitsOf(tokens: readonly Token[]): Unit[] {
  const units: Unit[] = [];
  let container: Container | undefined;
  let begin = 0;
  let parts = 0;
  for (const token of tokens) {
    if (token.nesting === -1 || token.map === null) continue;
    const line = token.map[0];
    if (token.level === 0) {
      container = containerOf(token.type);
      begin = line;
      parts = 0;
      // The head of a table is its first part; other containers are nothing but their parts.
      if (container !== undefined && container !== 'table') continue;
      units.push({ line, type: token.type, container, continues: false, begin });
      parts++;
    } else if (container !== undefined && isPart(token, container, begin)) {
      units.push({ line, type: token.type, container, continues: parts > 0, begin });
      parts++;
    }
  }
  return units;
}

function containerOf(type: string): Container | undefined {
  if (type === 'bullet_list_open' || type === 'ordered_list_open') return 'list';
  if (type === 'blockquote_open') return 'quote';
  return type === 'table_open' ? 'table' : undefined;
}

function isPart(token: Token, container: Container, begin: number): boolean {
  if (container !== 'table') return token.level === 1;
  return token.type === 'tr_open' && token.level === 2 && (token.map?.[0] ?? 0) > begin;
}

/** Whether a line belongs to any block of the outermost level, or of the second. */
function coveredLines(tokens: readonly Token[]): (line: number) => boolean {
  const ranges = tokens
    .filter((token) => token.nesting !== -1 && token.map !== null)
    .filter((token) => (token.level === 0 && token.type !== 'blockquote_open') || token.level === 1)
    .map((token): readonly [number, number] => token.map ?? [0, 0]);
  return (line) => ranges.some(([from, to]) => line >= from && line < to);
}
