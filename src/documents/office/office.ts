import { type ConversionLimits, OverLimit, Refusal } from '../conversion.ts';
import { load } from '../libraries.ts';
import { tidy } from '../markdown.ts';
import { writeZip } from '../write-zip.ts';
import { linkFields } from './docx-fields.ts';
import { listItemsByStyle } from './docx-lists.ts';
import { NO_STYLES, readStyles } from './odt-styles.ts';
import { type Package, relationships, type Target } from './package.ts';
import { withBullets, withoutDecoration } from './pptx-slides.ts';
import { repairTree } from './tree.ts';
import { xlsxToMarkdown } from './xlsx.ts';

/** Elements and cells that one document may hold. Each costs some hundred bytes while it is read. */
const MOST_ELEMENTS = 500_000;

/**
 * A document → markdown. The library does not get the file but a package written anew of the parts that it needs: what was
 * read within the limits is then all that it can see.
 */
export async function officeToMarkdown(
  parts: Package,
  limits: ConversionLimits,
): Promise<{ text: string; title?: string }> {
  // The library knows no number formats: its dates are numbers of days. So this format is read here.
  if (parts.kind === 'xlsx') return { text: xlsxToMarkdown(parts, limits) };
  const { OfficeParser } = await load(() => import('officeparser'));
  const tree = await OfficeParser.parseOffice(rewrite(parts), {
    fileType: parts.kind,
    ignoreComments: true,
    ignoreHeadersAndFooters: true,
    ignoreSlideMasters: true,
    ignoreInternalLinks: true,
    decompressionLimits: {
      maxUncompressedBytes: limits.unpackedBytes,
      maxZipEntries: limits.entries,
      maxTableCells: MOST_ELEMENTS,
      maxXmlElements: MOST_ELEMENTS,
    },
  }).catch((error: unknown) => {
    throw refusal(error);
  });
  tree.content = repairTree(tree.content, parts.kind.startsWith('od') ? readStyles(parts) : NO_STYLES);
  const { title } = tree.metadata;
  tree.metadata = {};
  const { value } = await tree.to('md', {
    includeImages: false,
    generateIds: false,
    ignoreInternalLinks: true,
    mdConfig: {
      dialect: 'github',
      fallbackToHtml: { alignment: false, anchors: false, tables: false },
    },
  });
  // A rule stands between slides, so none before the first.
  const text = renumberNotes(tidy(value.replace(/^\s*---\n/, '')));
  return title === undefined || title.trim() === '' ? { text } : { text, title: title.trim() };
}

function rewrite(parts: Package): Buffer {
  const files = new Map<string, string>();
  for (const path of parts.paths) files.set(path, parts.text(path) ?? '');
  if (parts.kind === 'docx') {
    repairText(parts, files);
    addLinks(parts, files);
  }
  if (parts.kind === 'pptx') repairSlides(parts, files);
  return writeZip([...files].map(([path, text]) => [path, Buffer.from(text, 'utf8')] as const));
}

/** What the library passes over in the text of a Word document. */
function repairText(parts: Package, files: Map<string, string>): void {
  const path = parts.find('word/document.xml') ?? parts.main;
  if (path === undefined) return;
  const xml = (files.get(path) ?? '').replace(/<w:noBreakHyphen\s*\/>/g, '<w:t>-</w:t>');
  const styles = parts.find(`${path.slice(0, path.lastIndexOf('/') + 1)}styles.xml`) ?? '';
  files.set(path, listItemsByStyle(xml, files.get(styles) ?? ''));
}

function repairSlides(parts: Package, files: Map<string, string>): void {
  for (const [path, xml] of files) {
    const folder = /(?:^|\/)(slides|notesSlides)\/[^/]+\.xml$/.exec(path)?.[1];
    if (folder === undefined) continue;
    const plain = withoutDecoration(xml);
    files.set(path, folder === 'slides' ? withBullets(plain, path, parts) : plain);
  }
}

/** Turns the link fields of the document into link elements, and adds their addresses to its relationships. */
function addLinks(parts: Package, files: Map<string, string>): void {
  const path = parts.find('word/document.xml') ?? parts.main;
  if (path === undefined) return;
  const { xml, targets } = linkFields(files.get(path) ?? '');
  if (targets.size === 0) return;
  files.set(path, xml);
  const slash = path.lastIndexOf('/') + 1;
  const present = [...relationships(parts, path)];
  files.set(
    `${path.slice(0, slash)}_rels/${path.slice(slash)}.rels`,
    withLinks(parts, path, [...targets], present.length),
  );
}

function withLinks(parts: Package, path: string, targets: [string, Target][], present: number): string {
  const slash = path.lastIndexOf('/') + 1;
  const old = parts.text(`${path.slice(0, slash)}_rels/${path.slice(slash)}.rels`) ?? '';
  const escapeValue = (text: string): string => text.replace(/[&<"]/g, (character) => `&#${character.charCodeAt(0)};`);
  const added = targets.map(
    ([id, { address }]) =>
      `<Relationship Id="${id}" TargetMode="External" Target="${escapeValue(address)}" ` +
      'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"/>',
  );
  const root = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"';
  return present === 0
    ? `<Relationships ${root}>${added.join('')}</Relationships>`
    : old.replace(/<\/(\w+:)?Relationships>\s*$/, (end) => `${added.join('')}${end}`);
}

/** Notes are called what the file calls them (`ftn0`, `22`); here they are counted from 1 on. */
function renumberNotes(markdown: string): string {
  const ids = [...markdown.matchAll(/^\[\^([^\]\s]+)\]:/gm)].map((match) => match[1]);
  if (ids.length === 0) return markdown;
  const numbers = new Map(ids.map((id, index) => [id, index + 1]));
  return markdown.replace(/\[\^([^\]\s]+)\]/g, (mark, id: string) =>
    numbers.has(id) ? `[^${numbers.get(id)}]` : mark,
  );
}

/** What the library throws, in our words. Its codes: `OfficeErrorType`. */
function refusal(error: unknown): unknown {
  const code = (error as { officeIssue?: { code?: unknown } } | null)?.officeIssue?.code;
  switch (code) {
    case 'PASSWORD_REQUIRED':
    case 'PASSWORD_INCORRECT':
    case 'DOCUMENT_DECRYPTION_FAILED':
      return new Refusal('is protected by a password');
    case 'ZIP_ENTRY_COUNT_LIMIT_EXCEEDED':
    case 'ZIP_SIZE_LIMIT_EXCEEDED':
    case 'XML_ELEMENT_LIMIT_EXCEEDED':
      return new OverLimit('is too large');
    case 'MAX_NESTING_DEPTH_EXCEEDED':
      return new Refusal('is nested too deeply');
    default:
      return new Refusal('is damaged', { cause: error });
  }
}
