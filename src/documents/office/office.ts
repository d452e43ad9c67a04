import type { ConversionLimits, Markdown } from '../conversion.ts';
import { writeZip } from '../write-zip.ts';
import { ChartBudget, withDocumentCharts, withSlideCharts } from './charts.ts';
import { linkFields } from './docx-fields.ts';
import { listItemsByStyle } from './docx-lists.ts';
import { symbolsAsText } from './docx-symbols.ts';
import { readWithLibrary } from './library.ts';
import { repairContent } from './odf-content.ts';
import { NO_STYLES, readStyles, type Styles } from './odt-styles.ts';
import { type Package, relationships, type Target } from './package.ts';
import { withBullets, withoutDecoration } from './pptx-slides.ts';
import { xlsxToMarkdown } from './xlsx.ts';

/**
 * A document → markdown. The library does not get the file but a package written anew of the parts that it needs: what was
 * read within the limits is then all that it can see.
 */
export async function officeToMarkdown(parts: Package, limits: ConversionLimits): Promise<Markdown> {
  // The library knows no number formats: its dates are numbers of days. So this format is read here.
  if (parts.kind === 'xlsx') return { text: xlsxToMarkdown(parts, limits) };
  const styles = parts.kind.startsWith('od') ? readStyles(parts) : NO_STYLES;
  return await readWithLibrary(rewrite(parts, styles), parts.kind, styles, limits);
}

function rewrite(parts: Package, styles: Styles): Buffer {
  const files = new Map<string, string>();
  for (const path of parts.paths) files.set(path, parts.text(path) ?? '');
  if (parts.kind === 'docx') {
    repairText(parts, files);
    addLinks(parts, files);
  }
  if (parts.kind === 'pptx') repairSlides(parts, files);
  const content = parts.find('content.xml');
  if (parts.kind.startsWith('od') && content !== undefined)
    files.set(content, repairContent(files.get(content) ?? '', parts, styles));
  return writeZip([...files].map(([path, text]) => [path, Buffer.from(text, 'utf8')] as const));
}

/** What the library passes over in the text of a Word document, and hidden text, which nobody sees who opens it. */
function repairText(parts: Package, files: Map<string, string>): void {
  const path = parts.find('word/document.xml') ?? parts.main;
  if (path === undefined) return;
  const xml = symbolsAsText(files.get(path) ?? '')
    .replace(/<w:noBreakHyphen\s*\/>/g, '<w:t>-</w:t>')
    .replace(HIDDEN_RUN, withoutText);
  const styles = parts.find(`${path.slice(0, path.lastIndexOf('/') + 1)}styles.xml`) ?? '';
  files.set(path, withDocumentCharts(listItemsByStyle(xml, files.get(styles) ?? ''), path, parts));
}

/** A run of text that its properties hide (ECMA-376 part 1, §17.3.2.41), or may. There is none within the properties of another. */
const HIDDEN_RUN =
  /<w:r(?:\s[^<>]*)?>\s*<w:rPr>((?:[^<]|<(?!\/w:rPr>|w:r[\s>])){0,2000})<\/w:rPr>(?:[^<]|<(?!\/w:r>))*/g;

function withoutText(run: string, properties: string): string {
  if (!/<w:vanish(\s+w:val="(1|true|on)")?\s*\/>/.test(properties)) return run;
  return run.replace(/<w:t\b[^<>]*>[^<]*<\/w:t>/g, '');
}

function repairSlides(parts: Package, files: Map<string, string>): void {
  const charts = new ChartBudget();
  for (const [path, xml] of files) {
    const folder = /(?:^|\/)(slides|notesSlides)\/[^/]+\.xml$/.exec(path)?.[1];
    if (folder === undefined) continue;
    const plain = withoutDecoration(xml);
    files.set(
      path,
      folder === 'slides' ? withSlideCharts(withBullets(plain, path, parts), path, parts, charts) : plain,
    );
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
