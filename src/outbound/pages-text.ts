import { createRequire } from 'node:module';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { DEEPEST_HTML, nestsTooDeep } from '../core/html-nesting.ts';
import { linkAddress } from '../core/link-address.ts';

/** The main text of a page. */
export interface PageText {
  readonly title: string;
  /** Markdown. */
  readonly text: string;
}

/** With more of them, a page is no text but an attack on whoever walks through it. */
const MOST_ELEMENTS = 200_000;

/** The plugin comes without types. */
const { gfm } = createRequire(import.meta.url)('@joplin/turndown-plugin-gfm') as { gfm: TurndownService.Plugin };

/** Never part of the main text. */
const NOISE = 'style,noscript,template,svg,canvas,iframe,object,embed,dialog,nav,footer';
/** Hardly ever part of it; on a page that has nothing else, the rest may still be worth reading. */
const FRAME = 'script,header,aside,form';

/**
 * HTML → the main text as markdown. What is around it (menus, advertisements, footers) is left out as far as it can be
 * told; when nothing looks like a main text, all of the body counts. Links are kept as absolute addresses, or only as
 * their words. Throws when elements nest too deep.
 */
export function textOfHtml(html: string, address: string, keepsLinks: boolean): PageText {
  if (nestsTooDeep(html)) throw new Error(`Its elements nest deeper than ${DEEPEST_HTML} levels.`);
  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  const base = URL.parse(document.querySelector('base')?.getAttribute('href') ?? '', address) ?? new URL(address);
  const title = oneLine(document.querySelector('title')?.textContent ?? '');
  for (const node of document.querySelectorAll(NOISE)) node.remove();
  const article = new Readability(document.cloneNode(true) as Document, {
    maxElemsToParse: MOST_ELEMENTS,
    // Their names tell the language of a code block.
    keepClasses: true,
  }).parse();
  const markdown = toMarkdown(base, keepsLinks);
  const main = article?.content ? markdown(article.content) : '';
  if (main !== '') return { title: oneLine(article?.title ?? '') || title, text: main };
  for (const node of document.querySelectorAll(FRAME)) node.remove();
  return { title, text: markdown(document.body?.innerHTML ?? '') };
}

function toMarkdown(base: URL, keepsLinks: boolean): (html: string) => string {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.use(gfm);
  // Pictures are of no use as text, and their addresses are long.
  service.remove(['script', 'style', 'noscript', 'iframe']).addRule('pictures', {
    filter: ['img', 'picture', 'video', 'audio'],
    replacement: () => '',
  });
  service.addRule('links', {
    filter: 'a',
    replacement: (content, node) => {
      const words = oneLine(content);
      const url = URL.parse(
        (node as unknown as { getAttribute(name: string): string | null }).getAttribute('href') ?? '',
        base,
      );
      const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
      return keepsLinks && isWeb && words !== '' ? `[${words}](${linkAddress(url.href)})` : words;
    },
  });
  return (html) =>
    service
      .turndown(html)
      .replace(/\n{3,}/g, '\n\n')
      .trim();
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

type Document = ConstructorParameters<typeof Readability>[0];
