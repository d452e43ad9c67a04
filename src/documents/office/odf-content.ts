import { readXml } from '../xml.ts';
import { type Chart, ChartBudget, escaped, insert } from './charts.ts';
import type { Styles } from './odt-styles.ts';
import type { Package } from './package.ts';

/** The content of an OpenDocument file with what the library passes over: charts, values of cells without their text, that text is hidden. */
export function repairContent(xml: string, parts: Package, styles: Styles): string {
  const seen = styles.hides ? withoutHidden(xml, styles) : xml;
  // The figures of a sheet's charts are in the sheet.
  return parts.kind === 'ods' ? withValues(seen) : withCharts(seen, parts);
}

/** What text is in, with its style, what stands for white space, and text. */
const TEXT = /<(\/?)text:(?:span|p|h)\b([^<>]*)>|<text:(?:s|tab|line-break)\b[^<>]*>|(?<=>)[^<]+/g;

/** Without text that its style, or that of what it is in, hides. */
function withoutHidden(xml: string, styles: Styles): string {
  const outer: boolean[] = [];
  let isShown = true;
  return xml.replace(TEXT, (token, slash: string | undefined, attributes: string | undefined) => {
    if (attributes === undefined) return isShown ? token : '';
    if (slash === '/') isShown = outer.pop() ?? true;
    else if (!attributes.endsWith('/')) {
      outer.push(isShown);
      isShown = styles.isShown(/\btext:style-name="([^"]*)"/.exec(attributes)?.[1] ?? '') ?? isShown;
    }
    return token;
  });
}

const TEXTLESS_CELL = /<table:table-cell\b([^<>]*?)\s*(?:\/>|><\/table:table-cell>)/g;
const TYPE_OF_VALUE = /\soffice:value-type="([a-z]+)"/;
const VALUE = /\soffice:(?:(?:date|time|string|boolean)-)?value="([^"]*)"/;

/** A program that knows the values may leave it to others to show them (OpenDocument 1.3 part 3, §19.387). */
function withValues(xml: string): string {
  return xml.replace(TEXTLESS_CELL, (cell, attributes: string) => {
    const type = TYPE_OF_VALUE.exec(attributes)?.[1];
    const value = VALUE.exec(attributes)?.[1] ?? '';
    if (type === undefined || value === '') return cell;
    return `<table:table-cell${attributes}><text:p>${shown(value, type)}</text:p></table:table-cell>`;
  });
}

function shown(value: string, type: string): string {
  if (type === 'percentage' && Number.isFinite(Number(value))) return `${Number((Number(value) * 100).toFixed(10))}%`;
  if (type === 'boolean') return value.toUpperCase();
  if (type === 'date') return value.replace('T', ' ');
  // The hours, minutes and seconds of a duration.
  if (type === 'time') return value.replace(/^PT(\d+)H(\d+)M(\d+(?:[.,]\d+)?)S$/, '$1:$2:$3');
  return value;
}

const OBJECT = /<draw:object\b[^<>]*?\bxlink:href="(?:\.\/)?([^"]*)"/g;

/** With the figures of each chart as a table: behind the paragraph that it is in, on slides behind its frame. */
function withCharts(xml: string, parts: Package): string {
  const isSlides = parts.kind === 'odp';
  return insert(xml, isSlides ? '</draw:frame>' : '</text:p>', chartsIn(xml, parts), ({ title, tables }) => {
    const names = ['table', 'text', 'draw'].map((name) => `xmlns:${name}="${NAMESPACE}${NAMESPACES[name]}:1.0"`);
    const paragraph = (text: string): string => `<text:p>${escaped(text)}</text:p>`;
    const row = (cells: readonly string[]): string =>
      `<table:table-row>${cells.map((text) => `<table:table-cell>${paragraph(text)}</table:table-cell>`).join('')}</table:table-row>`;
    const made = tables.map((rows) => `<table:table ${names.join(' ')}>${rows.map(row).join('')}</table:table>`);
    if (!isSlides) return `${title === '' ? '' : paragraph(title)}${made.join('')}`;
    const frame = (content: string): string => `<draw:frame ${names.join(' ')}>${content}</draw:frame>`;
    const heading = title === '' ? '' : frame(`<draw:text-box>${paragraph(title)}</draw:text-box>`);
    return heading + made.map(frame).join('');
  });
}

const NAMESPACE = 'urn:oasis:names:tc:opendocument:xmlns:';
const NAMESPACES: Readonly<Record<string, string>> = { table: 'table', text: 'text', draw: 'drawing' };

function* chartsIn(xml: string, parts: Package): Generator<[at: number, Chart]> {
  const budget = new ChartBudget();
  for (const match of xml.matchAll(OBJECT)) {
    const path = `${match[1]}/content.xml`;
    if (budget.seen.has(path)) continue;
    budget.seen.add(path);
    const chart = readChart(parts.text(path) ?? '', budget);
    if (chart !== undefined) yield [match.index, chart];
  }
}

/** What a chart shows is a table in it (OpenDocument 1.3 part 3, §11.1); undefined for other objects, such as formulas. */
function readChart(xml: string, budget: ChartBudget): Chart | undefined {
  const rows: string[][] = [];
  let title = '';
  let [isChart, isTitle, isTable, isText] = [false, false, false, false];
  let cell = '';
  readXml(xml, {
    open(name) {
      if (name === 'chart') isChart = true;
      else if (name === 'title') isTitle = title === '' && rows.length === 0;
      else if (name === 'table') isTable = true;
      else if (name === 'table-row') rows.push([]);
      else if (name === 'table-cell') cell = '';
      else if (name === 'p') isText = true;
    },
    close(name) {
      if (name === 'title') isTitle = false;
      else if (name === 'table') isTable = false;
      else if (name === 'p') isText = false;
      else if (name === 'table-cell') {
        budget.spend(cell.length + 1);
        // What is written for no number.
        rows.at(-1)?.push(cell === 'NaN' ? '' : cell);
      }
    },
    text(text) {
      if (!isText) return;
      if (isTable) cell += text;
      else if (isTitle) title += text;
    },
  });
  return isChart && rows.length > 0 ? { title: title.trim(), tables: [rows] } : undefined;
}
