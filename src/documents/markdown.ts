/** Pieces of markdown that several converters write. */

/** A table whose first row is its head. Rows may be of different lengths; cells are plain text or inline markdown. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head, ...body] = rows;
  if (head === undefined) return '';
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const line = (row: readonly string[]): string =>
    `| ${Array.from({ length: width }, (_, column) => cell(row[column] ?? '')).join(' | ')} |`;
  return [line(head), `|${' --- |'.repeat(width)}`, ...body.map(line)].join('\n');
}

/** Text that stays on its line and in its column. */
function cell(text: string): string {
  return text
    .trim()
    .replace(/(?<!\\)\|/g, '\\|')
    .replace(/(?<!\s)\s*\n\s*/g, '<br>');
}

/** More backticks than a code holds in a row (CommonMark §4.5). */
export function fenceMarks(code: string): string {
  const longest = (code.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
  return '`'.repeat(Math.max(3, longest + 1));
}

/** A code block. */
export function fence(code: string, language = ''): string {
  const marks = fenceMarks(code);
  return `${marks}${language.replace(/[^\w+#.-]/g, '')}\n${code.replace(/(?<!\n)\n+$/, '')}\n${marks}`;
}

/** A link, or only its text where the address is none that a reader may follow. */
export function link(text: string, address: string): string {
  const safe = safeAddress(address);
  if (safe === undefined || text === '') return text;
  return `[${text.replace(/[[\]]/g, '\\$&')}](${safe})`;
}

/** The address as markdown can hold it; undefined for `javascript:`, `data:` and whatever else is not for readers. */
export function safeAddress(address: string): string | undefined {
  const plain = [...address].filter((character) => character > ' ' && character !== '\x7f').join('');
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(plain)?.[1]?.toLowerCase();
  if (plain === '' || (scheme !== undefined && !['http', 'https', 'mailto', 'tel', 'ftp'].includes(scheme))) {
    return undefined;
  }
  return plain.replace(/[()<>]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Line ends as `\n`, no white space at line ends beyond a hard break's, no more than one empty line, one at the end. */
export function tidy(markdown: string): string {
  const lines = markdown.replace(/\r\n?/g, '\n').split('\n');
  const kept: string[] = [];
  let fenced: string | undefined;
  for (const line of lines) {
    // With further backticks behind them, backticks are code within a line (CommonMark §4.5).
    const marks = /^\s*(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
    if (marks !== undefined && fenced === undefined) fenced = marks;
    else if (marks !== undefined && fenced !== undefined && line.trim() === marks && marks.startsWith(fenced))
      fenced = undefined;
    else if (fenced === undefined && line.trim() === '') {
      if (kept.at(-1) !== '') kept.push('');
      continue;
    }
    kept.push(fenced === undefined ? line.replace(/(\S) {2,}$/, '$1  ').replace(/(\S)[ \t]$/, '$1') : line);
  }
  return `${kept.join('\n').trim()}\n`;
}
