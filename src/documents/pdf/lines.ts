import type { TextItem } from '@firecrawl/pdf-inspector';

/** A piece of text with its place in the list of all pieces. */
export interface Piece extends TextItem {
  readonly index: number;
}

/** Pieces beside each other, from left to right. */
export interface Line {
  readonly page: number;
  readonly y: number;
  /** Of the tallest piece. */
  readonly height: number;
  readonly pieces: readonly Piece[];
  /** Whether all of it is in a font whose letters are all as wide. */
  readonly isFixed: boolean;
}

/** How far apart two baselines may be, in heights, and still be one line: raised and lowered text. */
const SAME_LINE = 0.45;
/** Above this share of fixed-pitch text a document is typewritten, not full of programs. */
const TYPEWRITTEN = 0.6;
/** Gap between two lines, in heights, that still belong together. */
const BLOCK_GAP = 4;
/** Columns that a line of code may have; a place far outside the page is not filled up with spaces. */
const MOST_COLUMNS = 400;

/** The lines of some pages, in the order in which their text comes. */
export function linesOf(items: readonly TextItem[]): Line[] {
  const lines: { page: number; y: number; height: number; pieces: Piece[] }[] = [];
  items.forEach((item, index) => {
    if (item.itemType !== 'Text' || item.text.trim() === '') return;
    const piece = { ...item, index };
    const last = lines.at(-1);
    const height = Math.max(item.height, last?.height ?? 0);
    if (last?.page === item.page && Math.abs(last.y - item.y) < height * SAME_LINE) {
      last.pieces.push(piece);
      last.height = height;
    } else lines.push({ page: item.page, y: item.y, height: item.height, pieces: [piece] });
  });
  return lines.map((line) => ({
    ...line,
    pieces: line.pieces.sort((a, b) => a.x - b.x),
    isFixed: line.pieces.every((piece) => piece.fixedPitch === true),
  }));
}

/** Whether so much of a document is in fixed pitch that this is no sign of a program. */
export function isTypewritten(items: readonly TextItem[]): boolean {
  const length = (all: readonly TextItem[]): number => all.reduce((sum, item) => sum + item.text.length, 0);
  return length(items.filter((item) => item.fixedPitch === true)) > length(items) * TYPEWRITTEN;
}

/** Runs of at least two lines of code below each other. */
export function codeBlocks(lines: readonly Line[]): Line[][] {
  const blocks: Line[][] = [];
  let block: Line[] = [];
  for (const line of lines) {
    const above = block.at(-1);
    const follows = above === undefined || isBelow(above, line);
    if (!line.isFixed || !follows) {
      blocks.push(block);
      block = [];
    }
    if (line.isFixed) block.push(line);
  }
  return [...blocks, block].filter((each) => each.length > 1);
}

function isBelow(above: Line, line: Line): boolean {
  const gap = above.y - line.y;
  return above.page === line.page && gap > 0 && gap < line.height * BLOCK_GAP;
}

/** Code as it stands on the page: each piece in its column, an empty line where there is a gap. */
export function layOutCode(block: readonly Line[]): string {
  const pieces = block.flatMap((line) => line.pieces);
  const left = smallest(pieces.map((piece) => piece.x));
  const width = median(pieces.map((piece) => piece.width / Math.max(1, [...piece.text].length))) || 6;
  const pitch = smallest(block.slice(1).map((line, index) => (block[index]?.y ?? 0) - line.y));
  return block
    .map((line, index) => {
      const gap = (block[index - 1]?.y ?? line.y) - line.y;
      return `${gap > pitch * 1.7 ? '\n' : ''}${layOutLine(line, left, width)}`;
    })
    .join('\n');
}

function layOutLine(line: Line, left: number, width: number): string {
  let text = '';
  let right = left;
  for (const piece of line.pieces) {
    const column = Math.min(MOST_COLUMNS, Math.round((piece.x - left) / width));
    const space = text !== '' && column <= text.length && piece.x - right > width / 2 ? ' ' : '';
    text = text.padEnd(column) + space + piece.text;
    right = piece.x + piece.width;
  }
  return text.trimEnd();
}

function smallest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

/** Of two in the middle the greater one; 0 of none. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
