import { createRequire } from 'node:module';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { DEEPEST_HTML, nestsTooDeep } from '../core/html-nesting.ts';
import { type Markdown, Refusal, titled } from './conversion.ts';
import { fenceMarks, safeAddress, table, tidy } from './markdown.ts';

/** Never text for readers, or only about the page: menus, forms' controls, what a style sheet would hide. */
const LEFT_OUT =
  'title,script,style,noscript,template,svg,canvas,iframe,object,embed,dialog,nav,button,select,textarea,' +
  'input:not([type=checkbox]),[hidden],[aria-hidden=true],a.headerlink';
const HIDDEN = '[style*="display:none" i],[style*="display: none" i]';

/** The plugin comes without types. */
const { strikethrough, highlightedCodeBlock } = createRequire(import.meta.url)('@joplin/turndown-plugin-gfm') as Record<
  string,
  TurndownService.Plugin
>;

/** The little of the DOM that is needed here; linkedom's own types ask for those of browsers. */
interface Element {
  readonly nodeName: string;
  readonly children: readonly Element[];
  readonly textContent: string | null;
  readonly className: string;
  readonly parentNode: Element | null;
  readonly nextElementSibling: Element | null;
  readonly previousElementSibling: Element | null;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  querySelectorAll(selector: string): readonly Element[];
  querySelector(selector: string): Element | null;
  remove(): void;
  normalize(): void;
}

/**
 * HTML → markdown: the `main` or the only `article` of the page if there is one, else its whole body. Scripts and styles are
 * dropped, links keep their addresses as they are written unless those could run something. Throws a `Refusal` when elements
 * nest too deep.
 */
export function htmlToMarkdown(html: string): Markdown {
  if (nestsTooDeep(html)) throw new Refusal(`is nested deeper than ${DEEPEST_HTML} levels`);
  // The parser wants a whole document, and puts nothing where it belongs.
  const markup = isXhtml(html) ? withEnds(html) : html;
  const page = /<body[\s>]/i.test(markup) ? markup : `<body>${markup.replace(/<\/?html[^<>]*>/gi, '')}</body>`;
  const { document } = parseHTML(/<html[\s>]/i.test(page) ? page : `<html>${page}</html>`) as unknown as {
    document: { readonly body: Element | null } & Element;
  };
  const title = document.querySelector('title')?.textContent?.replace(/\s+/g, ' ').trim() ?? '';
  for (const node of document.querySelectorAll(LEFT_OUT)) node.remove();
  // Formulas may hide behind a picture of them.
  for (const node of document.querySelectorAll(HIDDEN)) if (node.querySelector('math') === null) node.remove();
  // The parser makes a text of its own of every entity, and what is no tag in pieces may be one as a whole.
  document.normalize();
  const main = only(document.querySelectorAll('main')) ?? only(document.querySelectorAll('article')) ?? document.body;
  const made = main === null ? '' : converter().turndown(main as unknown as TurndownService.Node);
  // Where a word may be parted, which is not for readers to see.
  const text = tidy(made.replaceAll('\u00ad', ''));
  return titled(text, title);
}

/** XML may end any element within its tag, HTML none: the parser would take all that follows for part of it. */
function isXhtml(html: string): boolean {
  return /^\s*<\?xml\b/.test(html) || /<html\b[^<>]{0,500}\bxmlns\s*=/i.test(html.slice(0, 4_096));
}

function withEnds(html: string): string {
  return html.replace(/<([a-z][\w:-]*)((?:\s[^<>]*)?)\/>/gi, (tag, name: string, attributes: string) =>
    VOID.has(name.toLowerCase()) ? tag : `<${name}${attributes}></${name}>`,
  );
}

const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

function only(found: readonly Element[]): Element | null {
  return found.length === 1 ? (found[0] ?? null) : null;
}

function converter(): TurndownService {
  const service = new TurndownService({
    headingStyle: 'atx',
    hr: '---',
    bulletListMarker: '-',
    codeBlockStyle: 'fenced',
    emDelimiter: '*',
  });
  for (const plugin of [strikethrough, highlightedCodeBlock]) if (plugin !== undefined) service.use(plugin);
  for (const [name, rule] of Object.entries(RULES)) service.addRule(name, rule);
  const escapeText = service.escape.bind(service);
  // Beyond what the library escapes: text that looks like a tag. Less than it: an underscore inside a word means nothing.
  service.escape = (text) =>
    escapeText(text)
      .replace(/<(?=[a-z/!?])/gi, '\\<')
      .replace(/(?<=\w)\\_(?=\w)/g, '_');
  return service;
}

const RULES: Readonly<Record<string, TurndownService.Rule>> = {
  links: {
    filter: (node) => node.nodeName === 'A' && asElement(node).getAttribute('href') !== null,
    replacement(content, node) {
      const address = safeAddress(asElement(node).getAttribute('href') ?? '');
      const words = content.replace(/(?<!\s)\s*\n\s*/g, ' ').trim();
      if (address === undefined || words === '') return content;
      // A heading that is a link as a whole, as of what a page lists.
      const heading = /^(#{1,6} )(.*)/.exec(content.trim());
      if (heading !== null) {
        const below = content.trim().slice(heading[0].length);
        return `\n\n${heading[1]}[${heading[2]}](${address})\n\n${below.trim()}\n\n`;
      }
      // A way back from a footnote, or an anchor for a heading: of no use as text.
      return address.startsWith('#') && /^(?:[↑^¶#§\s\\]|↩\ufe0e?)+$/u.test(words) ? '' : `[${words}](${address})`;
    },
  },
  pictures: {
    filter: ['img'],
    replacement(_content, node) {
      const words = (asElement(node).getAttribute('alt') ?? '').replace(/\s+/g, ' ').replace(/[[\]]/g, '\\$&').trim();
      const address = safeAddress(asElement(node).getAttribute('src') ?? '');
      return address === undefined ? words : `![${words}](${address})`;
    },
  },
  // Which the library takes for words within a line.
  blocks: {
    filter: ['details', 'summary', 'legend', 'hgroup', 'search'],
    replacement: (content) => `\n\n${content.trim()}\n\n`,
  },
  // As whoever made it wrote it, where that is said; else without its fractions and roots.
  formulas: {
    filter: (node) => node.nodeName.toLowerCase() === 'math',
    replacement(content, node) {
      const formula = asElement(node);
      const written = formula.querySelector('annotation[encoding="application/x-tex"]')?.textContent;
      const tex = (written ?? formula.getAttribute('alttext') ?? '').replace(/\s+/g, ' ').trim();
      return tex === '' ? content : `$${tex}$`;
    },
  },
  raised: {
    filter: ['sup', 'sub'],
    replacement(content, node) {
      const name = asElement(node).nodeName.toLowerCase();
      return content.trim() === '' ? '' : `<${name}>${content}</${name}>`;
    },
  },
  checkboxes: {
    filter: 'input',
    replacement: (_content, node) => (asElement(node).getAttribute('checked') === null ? '[ ] ' : '[x] '),
  },
  listItems: {
    filter: 'li',
    // The library's own rule indents by four and pads the mark; two or three columns are what the mark takes.
    replacement(content, node) {
      const mark = markOf(asElement(node));
      const body = content
        .trim()
        .replace(/^\[([ x])\] +/, '[$1] ')
        .replace(/\n(?=[^\n])/g, `\n${' '.repeat(mark.length)}`);
      return `${mark}${body}\n`;
    },
  },
  code: {
    filter: 'pre',
    replacement(_content, node) {
      const element = asElement(node);
      const code = (element.textContent ?? '').replace(/\n$/, '');
      const marks = fenceMarks(code);
      return `\n\n${marks}${languageOf(element)}\n${code}\n${marks}\n\n`;
    },
  },
  cells: {
    filter: ['td', 'th'],
    // Kept where the table's rule finds it: the content of each cell, in the order of the document.
    replacement(content, node) {
      asElement(node).setAttribute('data-markdown', content.trim());
      return '';
    },
  },
  rows: { filter: ['tr', 'thead', 'tbody', 'tfoot', 'colgroup', 'col'], replacement: (content) => content },
  tables: {
    filter: 'table',
    replacement(content, node) {
      const rows = rowsOf(asElement(node));
      // A table that only lays out the page: its cells follow each other.
      if (rows.every((row) => row.length < 2)) return `\n\n${rows.flat().join('\n\n')}\n\n`;
      // No cell holds a table.
      if (isBesideOthers(asElement(node)))
        return [content.trim(), ...rows.map((row) => row.filter((each) => each !== '').join(', '))].join('\n');
      return `\n\n${content.trim()}\n\n${table(rows)}\n\n`;
    },
  },
};

/** Whether an element is in a cell that shares its row with others. */
function isBesideOthers(element: Element): boolean {
  for (let each: Element | null = element; each !== null; each = each.parentNode) {
    if (each.nodeName !== 'TD' && each.nodeName !== 'TH') continue;
    if ((each.nextElementSibling ?? each.previousElementSibling) !== null) return true;
  }
  return false;
}

function markOf(item: Element): string {
  const list = item.parentNode;
  if (list?.nodeName !== 'OL') return '- ';
  const first = Number.parseInt(list.getAttribute('start') ?? '1', 10);
  return `${(Number.isNaN(first) ? 1 : first) + Math.max(0, list.children.indexOf(item))}. `;
}

/** The content of each cell; a cell that spans columns or rows is followed by empty ones, beside it and below. */
function rowsOf(tableElement: Element): string[][] {
  const rows = tableElement.querySelectorAll('tr').filter((row) => closest(row, 'TABLE') === tableElement);
  // By column: the row before which a cell from above ends.
  const ends: number[] = [];
  return rows.map((row, index) => {
    const cells: string[] = [];
    const passCovered = (): void => {
      while ((ends[cells.length] ?? 0) > index) cells.push('');
    };
    for (const child of row.children) {
      if (child.nodeName !== 'TD' && child.nodeName !== 'TH') continue;
      passCovered();
      const end = index + 1 + spanOf(child, 'rowspan');
      ends[cells.length] = end;
      cells.push(child.getAttribute('data-markdown') ?? '');
      for (let more = spanOf(child, 'colspan'); more > 0; more -= 1) {
        ends[cells.length] = end;
        cells.push('');
      }
    }
    passCovered();
    return cells;
  });
}

/** Columns or rows that a cell covers beside its own. */
function spanOf(cell: Element, name: 'colspan' | 'rowspan'): number {
  return Math.min(100, Math.max(0, Math.floor(Number(cell.getAttribute(name) ?? 1)) - 1)) || 0;
}

function closest(element: Element, name: string): Element | null {
  let parent = element.parentNode;
  while (parent !== null && parent.nodeName !== name) parent = parent.parentNode;
  return parent;
}

/** The language of a code block as highlighters and converters mark it: on the block, or on the code inside it. */
function languageOf(pre: Element): string {
  const names = [pre.className, pre.querySelector('code')?.className ?? '', pre.parentNode?.className ?? ''].join(' ');
  const marked = /\b(?:language|lang|brush:|highlight-source)-?\s*([\w+#.-]+)/.exec(names)?.[1];
  const pandoc = /\bsourceCode\s+([\w+#.-]+)/.exec(names)?.[1];
  return marked ?? pandoc ?? '';
}

function asElement(node: unknown): Element {
  return node as Element;
}
