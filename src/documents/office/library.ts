import { type ConversionLimits, type Markdown, OverLimit, Refusal, titled } from '../conversion.ts';
import { load } from '../load.ts';
import { tidy } from '../markdown.ts';
import type { Styles } from './odt-styles.ts';
import type { PackageKind } from './package.ts';
import { repairTree } from './tree.ts';

/** Elements and cells that one document may hold. Each costs some hundred bytes while it is read. */
const MOST_ELEMENTS = 500_000;

/** What the library reads of a document, as markdown. */
export async function readWithLibrary(
  bytes: Buffer,
  fileType: Exclude<PackageKind, 'xlsx'> | 'rtf',
  styles: Styles,
  limits: ConversionLimits,
): Promise<Markdown> {
  const { OfficeParser } = await load(() => import('officeparser'));
  const tree = await OfficeParser.parseOffice(bytes, {
    fileType,
    ignoreComments: false,
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
  tree.content = repairTree(tree.content, styles);
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
  return titled(text, title);
}

/** Notes are called what the file calls them (`ftn0`, `22`); here they are counted from 1 on. */
function renumberNotes(markdown: string): string {
  const ids = [...markdown.matchAll(/^\[\^([^[\]\s]+)\]:/gm)].map((match) => match[1]);
  if (ids.length === 0) return markdown;
  const numbers = new Map(ids.map((id, index) => [id, index + 1]));
  return markdown.replace(/\[\^([^[\]\s]+)\]/g, (mark, id: string) =>
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
