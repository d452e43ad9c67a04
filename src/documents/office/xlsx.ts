import { type ConversionLimits, OverLimit } from '../conversion.ts';
import { link, table } from '../markdown.ts';
import { readXml } from '../xml.ts';
import { type NumberFormat, numberFormat } from './number-format.ts';
import { type Package, relationships } from './package.ts';
import { type Comment, readComments } from './xlsx-comments.ts';

/** Cells with their empty neighbours that one sheet may come to: a few cells far apart make a table of nothing. */
const MOST_CELLS = 2_000_000;

interface Sheet {
  readonly name: string;
  readonly path: string;
  readonly isHidden: boolean;
}

interface Workbook {
  readonly sheets: readonly Sheet[];
  readonly strings: readonly string[];
  /** By the index that cells name. */
  readonly formats: readonly NumberFormat[];
  readonly epoch1904: boolean;
}

/** What the sheets share. */
interface TextBudget {
  /** Characters that the cells may still show: one long text may be that of many cells. */
  textLength: number;
  /** Comments, as footnotes. */
  readonly notes: string[];
}

/** A row of a sheet: its cells by column, 0 is A. */
type Row = Map<number, string>;

/**
 * Each sheet as a heading and a table, values as the sheet shows them, dates as ISO 8601. Formulas are their last results,
 * as the file keeps them. Empty rows and columns are left out. Comments are footnotes.
 */
export function xlsxToMarkdown(parts: Package, limits: ConversionLimits): string {
  const workbook = readWorkbook(parts);
  const budget: TextBudget = { textLength: limits.unpackedBytes, notes: [] };
  const sheets = workbook.sheets
    .map((sheet) => sheetToMarkdown(sheet, workbook, parts, budget))
    .filter((text) => text !== '');
  return `${[...sheets, ...budget.notes].join('\n\n')}\n`;
}

function readWorkbook(parts: Package): Workbook {
  const path = parts.find('xl/workbook.xml') ?? parts.main ?? 'xl/workbook.xml';
  const targets = relationships(parts, path);
  const sheets: Sheet[] = [];
  let epoch1904 = false;
  readXml(parts.text(path) ?? '', {
    open(name, attributes) {
      if (name === 'workbookPr') epoch1904 = /^(1|true)$/.test(attributes.get('date1904') ?? '');
      if (name !== 'sheet') return;
      const target = targets.get(attributes.get('r:id') ?? '');
      const isHidden = /^(h|veryH)idden$/.test(attributes.get('state') ?? '');
      if (target !== undefined) sheets.push({ name: attributes.get('name') ?? '', path: target.address, isHidden });
    },
  });
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return {
    sheets,
    epoch1904,
    strings: readStrings(parts.text(`${folder}sharedStrings.xml`) ?? ''),
    formats: readFormats(parts.text(`${folder}styles.xml`) ?? ''),
  };
}

function readStrings(xml: string): string[] {
  const strings: string[] = [];
  let text = '';
  let inText = false;
  // Furigana: how a text is pronounced, not part of it.
  let phonetic = 0;
  readXml(xml, {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 't') inText = phonetic === 0;
      else if (name === 'rPh') phonetic += 1;
    },
    close(name) {
      if (name === 'si') strings.push(unescaped(text));
      else if (name === 't') inText = false;
      else if (name === 'rPh') phonetic -= 1;
    },
    text(piece) {
      if (inText) text += piece;
    },
  });
  return strings;
}

function readFormats(xml: string): NumberFormat[] {
  const codes = new Map<number, string>();
  const formats: NumberFormat[] = [];
  let inCells = false;
  readXml(xml, {
    open(name, attributes) {
      if (name === 'numFmt') codes.set(Number(attributes.get('numFmtId')), attributes.get('formatCode') ?? 'General');
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) {
        const id = Number(attributes.get('numFmtId') ?? 0);
        formats.push(numberFormat(id, codes.get(id)));
      }
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return formats;
}

function sheetToMarkdown(sheet: Sheet, workbook: Workbook, parts: Package, budget: TextBudget): string {
  const { rows, links } = readSheet(parts.text(sheet.path) ?? '', workbook, budget);
  const targets = relationships(parts, sheet.path);
  for (const { reference, id } of links) {
    const { row, column } = place(reference);
    const text = rows.get(row)?.get(column);
    const target = targets.get(id);
    if (text !== undefined && target?.isExternal) rows.get(row)?.set(column, link(text, target.address));
  }
  addNotes(rows, readComments(parts, sheet.path), budget);
  const filled = [...rows.entries()].sort(([a], [b]) => a - b).map(([, row]) => row);
  const columns = [...new Set(filled.flatMap((row) => [...row.keys()]))].sort((a, b) => a - b);
  if (filled.length === 0) return '';
  if (filled.length * columns.length > MOST_CELLS) throw new OverLimit('has a sheet that is too large for a table');
  const heading = `## ${sheet.name.replace(/\s+/g, ' ')}${sheet.isHidden ? ' (hidden)' : ''}`;
  return `${heading}\n\n${table(filled.map((row) => columns.map((column) => row.get(column) ?? '')))}`;
}

function addNotes(rows: Map<number, Row>, comments: readonly Comment[], budget: TextBudget): void {
  for (const { reference, text } of comments) {
    budget.textLength -= text.length;
    if (budget.textLength < 0) throw new OverLimit('is too large');
    const { row, column } = place(reference);
    const cells = rows.get(row) ?? new Map<number, string>();
    const mark = `[^${budget.notes.length + 1}]`;
    rows.set(row, cells.set(column, `${cells.get(column) ?? ''}${mark}`));
    budget.notes.push(`${mark}: ${text}`);
  }
}

interface CellReader {
  readonly type: string;
  readonly style: number;
  readonly row: number;
  readonly column: number;
  value: string;
  formula: string;
}

function readSheet(
  xml: string,
  workbook: Workbook,
  budget: TextBudget,
): { rows: Map<number, Row>; links: { reference: string; id: string }[] } {
  const rows = new Map<number, Row>();
  const links: { reference: string; id: string }[] = [];
  let cell: CellReader | undefined;
  let into: 'value' | 'formula' | undefined;
  let last = { row: -1, column: -1 };
  readXml(xml, {
    open(name, attributes) {
      if (name === 'row') {
        last = { row: Number(attributes.get('r') ?? last.row + 2) - 1, column: -1 };
      } else if (name === 'c') {
        // Writers may leave references out; a cell then follows the one before it.
        const reference = attributes.get('r');
        last = reference === undefined ? { row: last.row, column: last.column + 1 } : place(reference);
        const style = Number(attributes.get('s') ?? 0);
        cell = { type: attributes.get('t') ?? 'n', style, ...last, value: '', formula: '' };
      } else if (name === 'v' || name === 't') into = 'value';
      else if (name === 'f') into = 'formula';
      else if (name === 'hyperlink') {
        links.push({ reference: attributes.get('ref') ?? '', id: attributes.get('r:id') ?? '' });
      }
    },
    close(name) {
      if (name === 'v' || name === 't' || name === 'f') into = undefined;
      if (name !== 'c' || cell === undefined) return;
      const text = show(cell, workbook);
      budget.textLength -= text.length;
      if (budget.textLength < 0) throw new OverLimit('is too large');
      if (text.trim() !== '') {
        const row = rows.get(cell.row) ?? new Map<number, string>();
        rows.set(cell.row, row.set(cell.column, text));
      }
      cell = undefined;
    },
    text(piece) {
      if (cell !== undefined && into !== undefined) cell[into] += piece;
    },
  });
  return { rows, links };
}

/** What a cell shows. A formula that was never computed shows itself. */
function show(cell: CellReader, workbook: Workbook): string {
  if (cell.value === '') return cell.formula === '' ? '' : `=${cell.formula}`;
  switch (cell.type) {
    case 's':
      return workbook.strings[Number(cell.value)] ?? '';
    case 'b':
      return cell.value === '1' ? 'TRUE' : 'FALSE';
    case 'n': {
      const number = Number(cell.value);
      const format = workbook.formats[cell.style];
      return Number.isNaN(number) || format === undefined ? cell.value : format.format(number, workbook.epoch1904);
    }
    default: // str, inlineStr, e (an error such as #DIV/0!), d (ISO 8601)
      return unescaped(cell.value);
  }
}

/** `_x000D_` is a character that XML does not have, and `_x005F_` the underscore of text that looks like one. */
function unescaped(text: string): string {
  return text.replace(/_x([\da-f]{4})_/gi, (_, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\t\n]|\P{Cc}/u.test(character) ? character : '';
  });
}

/** `B7` as numbers from 0 on. */
function place(reference: string): { row: number; column: number } {
  const parts = /^\$?([A-Z]{1,3})\$?(\d{1,7})/.exec(reference);
  const letters = parts?.[1] ?? 'A';
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return { row: Number(parts?.[2] ?? 1) - 1, column: column - 1 };
}
