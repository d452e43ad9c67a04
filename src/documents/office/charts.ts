import { OverLimit } from '../conversion.ts';
import { readXml } from '../xml.ts';
import { numberFormat } from './number-format.ts';
import { type Package, relationships } from './package.ts';

/** The figures that a chart shows, each row of series that share their categories a table. */
export interface Chart {
  readonly title: string;
  readonly tables: readonly (readonly (readonly string[])[])[];
}

/** What the charts of one document share. */
export class ChartBudget {
  /** Charts that were shown: each is, once, however often the document refers to it. */
  readonly seen = new Set<string>();
  /** Characters and cells that may still be shown: few points far apart make a large table, one format is that of many. */
  #left = 5_000_000;

  spend(size: number): void {
    this.#left -= size;
    if (this.#left < 0) throw new OverLimit('has charts that are too large for tables');
  }
}

/** The values of a series, or their categories, by their place. */
type Points = Map<number, string>;

interface Series {
  name: string;
  readonly categories: Points;
  readonly values: Points;
}

/** Where points are: the categories and values of most charts, those of scattered points. */
const CATEGORIES = new Set(['cat', 'xVal']);
const VALUES = new Set(['val', 'yVal']);

/** Reads what a chart keeps of its figures (ECMA-376 part 1, §21.2), however it shows them. */
function readChart(xml: string, budget: ChartBudget): Chart {
  const all: Series[] = [];
  let title = '';
  let series: Series | undefined;
  let place: 'name' | 'categories' | 'values' | undefined;
  let [isTitle, isPlot, isFormat, isValue] = [false, false, false, false];
  let [index, format, value] = [0, '', ''];
  readXml(xml, {
    open(name, attributes) {
      if (name === 'title') isTitle = !isPlot;
      else if (name === 'plotArea') isPlot = true;
      else if (name === 'ser') {
        series = { name: '', categories: new Map(), values: new Map() };
        all.push(series);
      } else if (name === 'tx') place = 'name';
      else if (CATEGORIES.has(name)) [place, format] = ['categories', ''];
      else if (VALUES.has(name)) [place, format] = ['values', ''];
      else if (name === 'formatCode') isFormat = true;
      else if (name === 'pt') {
        index = Number(attributes.get('idx') ?? 0);
        value = '';
      } else if (name === 'v' || name === 't') isValue = true;
    },
    close(name) {
      if (name === 'title') isTitle = false;
      else if (name === 'plotArea') isPlot = false;
      else if (name === 'ser') series = undefined;
      else if (name === 'tx' || CATEGORIES.has(name) || VALUES.has(name)) place = undefined;
      else if (name === 'formatCode') isFormat = false;
      else if (name === 'v' || name === 't') isValue = false;
      else if (name === 'pt' && series !== undefined && place !== undefined && place !== 'name')
        series[place].set(index, shown(value, format, budget));
    },
    text(text) {
      if (isFormat) format += text;
      if (!isValue) return;
      if (series === undefined) title += isTitle ? text : '';
      else if (place === 'name') series.name += text;
      else value += text;
    },
  });
  return { title: title.trim(), tables: tablesOf(all, budget) };
}

function shown(value: string, format: string, budget: ChartBudget): string {
  const number = Number(value);
  const isPlain = format === '' || value.trim() === '' || Number.isNaN(number);
  const text = isPlain ? value : numberFormat(-1, format).format(number, false);
  budget.spend(text.length);
  return text;
}

function tablesOf(all: readonly Series[], budget: ChartBudget): string[][][] {
  const groups: Series[][] = [];
  for (const series of all) {
    const last = groups.at(-1);
    if (last?.[0] !== undefined && haveSame(last[0].categories, series.categories)) last.push(series);
    else groups.push([series]);
  }
  return groups.map((group) => {
    const { categories } = group[0] as Series;
    const places = new Set([...categories.keys(), ...group.flatMap(({ values }) => [...values.keys()])]);
    budget.spend(places.size * group.length);
    const rows = [...places]
      .sort((a, b) => a - b)
      .map((place) => [
        categories.get(place) ?? String(place + 1),
        ...group.map(({ values }) => values.get(place) ?? ''),
      ]);
    return [['', ...group.map(({ name }) => name)], ...rows];
  });
}

function haveSame(one: Points, other: Points): boolean {
  // Series may leave out what the first one has said.
  return other.size === 0 || (one.size === other.size && [...one].every(([place, text]) => other.get(place) === text));
}

const CHART = /<c:chart\b[^<>]*?\br:id="([^"]*)"/g;

/** The charts that a part refers to and that were not shown yet, and where. */
function* chartsIn(xml: string, path: string, parts: Package, budget: ChartBudget): Generator<[at: number, Chart]> {
  const targets = relationships(parts, path);
  for (const match of xml.matchAll(CHART)) {
    const target = targets.get(match[1] ?? '');
    if (target === undefined || target.isExternal || budget.seen.has(target.address)) continue;
    budget.seen.add(target.address);
    const chart = readChart(parts.text(target.address) ?? '', budget);
    if (chart.tables.length > 0) yield [match.index, chart];
  }
}

/** A slide with the figures of its charts as tables, where the library expects tables. */
export function withSlideCharts(xml: string, path: string, parts: Package, budget: ChartBudget): string {
  return insert(xml, '</p:graphicFrame>', chartsIn(xml, path, parts, budget), ({ title, tables }) => {
    const paragraph = (text: string): string => `<a:p><a:r><a:t>${escaped(text)}</a:t></a:r></a:p>`;
    const cell = (text: string): string => `<a:tc><a:txBody>${paragraph(text)}</a:txBody></a:tc>`;
    const row = (cells: readonly string[]): string => `<a:tr>${cells.map(cell).join('')}</a:tr>`;
    const heading = title === '' ? '' : `<p:sp><p:txBody>${paragraph(title)}</p:txBody></p:sp>`;
    const uri = 'http://schemas.openxmlformats.org/drawingml/2006/table';
    const frame = (rows: readonly (readonly string[])[]): string =>
      `<p:graphicFrame><a:graphic><a:graphicData uri="${uri}"><a:tbl>${rows.map(row).join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
    return heading + tables.map(frame).join('');
  });
}

/** The same of a Word document: below the paragraph in which the chart is. */
export function withDocumentCharts(xml: string, path: string, parts: Package): string {
  return insert(xml, '</w:p>', chartsIn(xml, path, parts, new ChartBudget()), ({ title, tables }) => {
    const paragraph = (text: string): string => `<w:p><w:r><w:t>${escaped(text)}</w:t></w:r></w:p>`;
    const row = (cells: readonly string[]): string =>
      `<w:tr>${cells.map((text) => `<w:tc>${paragraph(text)}</w:tc>`).join('')}</w:tr>`;
    const table = (rows: readonly (readonly string[])[]): string => `<w:tbl>${rows.map(row).join('')}</w:tbl><w:p/>`;
    return (title === '' ? '' : paragraph(title)) + tables.map(table).join('');
  });
}

/** Puts what is made of each chart behind the end of what it is in. */
export function insert(
  xml: string,
  end: string,
  charts: Iterable<[number, Chart]>,
  made: (chart: Chart) => string,
): string {
  let changed = '';
  let copied = 0;
  for (const [at, chart] of charts) {
    const close = xml.indexOf(end, at);
    if (close === -1) break;
    changed += xml.slice(copied, close + end.length) + made(chart);
    copied = close + end.length;
  }
  return changed + xml.slice(copied);
}

/** Text for the content of an element; quotes stay, so it is none for an attribute. */
export function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
