import { table } from './markdown.ts';

/** Delimiters in use, the likeliest first. */
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** A first line with which a file tells Excel its delimiter. */
const SAID_DELIMITER = /^sep=([,;\t|])\r?\n/i;

/** Comma-separated values (RFC 4180, and what spreadsheets write beyond it) as a markdown table. `likely`: what the name says. */
export function csvToMarkdown(text: string, likely?: string): string {
  const said = SAID_DELIMITER.exec(text);
  const values = text.slice(said?.[0].length ?? 0);
  const rows = parseCsv(values, said?.[1] ?? delimiterOf(values, likely)).filter((row) =>
    row.some((value) => value.trim() !== ''),
  );
  return `${table(rows)}\n`;
}

/** The one that splits the first line into the most columns, quoted text aside. Decimal commas come later, if at all. */
function delimiterOf(text: string, likely: string | undefined): string {
  const [line = ''] = text
    .slice(0, 10_000)
    .replace(/"[^"]*"/g, '')
    .trimStart()
    .split(/\r?\n/, 1);
  if (likely !== undefined && line.includes(likely)) return likely;
  const columns = (delimiter: string): number => line.split(delimiter).length;
  return DELIMITERS.reduce((best, next) => (columns(next) > columns(best) ? next : best));
}

/** Rows of values. A quote inside a quoted value is doubled; a quote elsewhere is a character like any other. */
export function parseCsv(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const [value, next] = text[at] === '"' ? quoted(text, at, delimiter) : plain(text, at, delimiter);
    row.push(value);
    if (text[next] === delimiter) {
      at = next + 1;
      if (at === text.length) row.push('');
      else continue;
    } else {
      at = next + (text.startsWith('\r\n', next) ? 2 : 1);
    }
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

/** A value and where it ends: at a delimiter, a line's end or the text's. */
function plain(text: string, start: number, delimiter: string): [string, number] {
  let end = start;
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end += 1;
  return [text.slice(start, end), end];
}

function quoted(text: string, start: number, delimiter: string): [string, number] {
  let value = '';
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return [value + text.slice(from), text.length];
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      // Whatever stands between the closing quote and the delimiter belongs to the value.
      const [rest, end] = plain(text, quote + 1, delimiter);
      return [value + rest, end];
    }
    value += '"';
    from = quote + 2;
  }
}
