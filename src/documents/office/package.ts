import { Refusal } from '../conversion.ts';
import { decodeText } from '../text.ts';
import { readXml } from '../xml.ts';
import type { Zip, ZipEntry } from '../zip.ts';

/** A document that is a zip of XML parts: Office Open XML, OpenDocument, EPUB. */
export type PackageKind = 'docx' | 'xlsx' | 'pptx' | 'odt' | 'ods' | 'odp' | 'epub';

/** A zipped document that was opened. */
export interface Package {
  readonly kind: PackageKind;
  /** The part that the others hang from, where its place is not fixed. */
  readonly main: string | undefined;
  /** Paths of all parts of XML, HTML and plain text; pictures and fonts are not looked at. */
  readonly paths: readonly string[];
  /** The path of a part as the package spells it: some writers are careless about case and a leading slash. */
  find(path: string): string | undefined;
  /** A part as text; undefined when there is none. Throws a `Refusal` when it is damaged or defines entities. */
  text(path: string): string | undefined;
}

/** Where something in a package points: a part, or an address outside. */
export interface Target {
  readonly address: string;
  readonly isExternal: boolean;
}

const MIME_TYPES: Readonly<Record<string, PackageKind>> = {
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.oasis.opendocument.text-template': 'odt',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.spreadsheet-template': 'ods',
  'application/vnd.oasis.opendocument.presentation': 'odp',
  'application/vnd.oasis.opendocument.presentation-template': 'odp',
  'application/epub+zip': 'epub',
};

/** What the main part of Office Open XML is called in its list of content types, macros and templates included. */
const MAIN_PARTS: readonly (readonly [RegExp, PackageKind])[] = [
  [/wordprocessingml\.(document|template)\.main|ms-word\.(document|template)\.macroEnabled\w*\.main/, 'docx'],
  [/spreadsheetml\.(sheet|template)\.main|ms-excel\.(sheet|template)\.macroEnabled\w*\.main/, 'xlsx'],
  [/presentationml\.(presentation|slideshow|template)\.main|ms-powerpoint\.\w+\.macroEnabled\w*\.main/, 'pptx'],
];

const READABLE = /(\.(xml|rels|opf|ncx|x?html?|txt)|^mimetype)$/i;

/** The document that a zip is; undefined when it is a zip of files. */
export function openPackage(zip: Zip): Package | undefined {
  const entries = new Map<string, ZipEntry>();
  for (const entry of zip.entries) {
    const path = entry.path.replace(/^\/+/, '');
    if (READABLE.test(path) && !entries.has(path)) entries.set(path, entry);
  }
  const byLowerCase = new Map([...entries.keys()].map((path) => [path.toLowerCase(), path]));
  const find = (path: string): string | undefined => byLowerCase.get(path.replace(/^\/+/, '').toLowerCase());
  const text = (path: string): string | undefined => {
    const entry = entries.get(find(path) ?? '');
    return entry === undefined ? undefined : readPart(zip, entry);
  };
  const mimeType = MIME_TYPES[readMimeType(entries.get('mimetype'), zip)];
  if (mimeType !== undefined) {
    refuseEncrypted(text('META-INF/manifest.xml') ?? '');
    return { kind: mimeType, main: undefined, paths: [...entries.keys()], find, text };
  }
  const main = mainPart(text('[Content_Types].xml') ?? '');
  return main === undefined ? undefined : { ...main, paths: [...entries.keys()], find, text };
}

/** The relationships of a part (ECMA-376 part 2, §9): id → what it points to. */
export function relationships(parts: Package, path: string): ReadonlyMap<string, Target> {
  const slash = path.lastIndexOf('/') + 1;
  const folder = path.slice(0, slash);
  const targets = new Map<string, Target>();
  readXml(parts.text(`${folder}_rels/${path.slice(slash)}.rels`) ?? '', {
    open(name, attributes) {
      const id = attributes.get('Id');
      const address = attributes.get('Target');
      if (name !== 'Relationship' || id === undefined || address === undefined) return;
      const isExternal = attributes.get('TargetMode') === 'External';
      targets.set(id, { isExternal, address: isExternal ? address : resolvePart(folder, address) });
    },
  });
  return targets;
}

function resolvePart(folder: string, address: string): string {
  const segments: string[] = [];
  for (const segment of (address.startsWith('/') ? address : `${folder}${address}`).split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments.join('/');
}

function readPart(zip: Zip, entry: ZipEntry): string {
  const text = decodePart(zip.read(entry));
  // Only XHTML needs a document type, and no document needs entities of its own, which may stand for gigabytes.
  if (/<!ENTITY/i.test(text)) throw new Refusal('defines XML entities, which are not expanded');
  return text;
}

function decodePart(bytes: Uint8Array): string {
  try {
    return decodeText(bytes);
  } catch {
    throw new Refusal('is damaged');
  }
}

function readMimeType(entry: ZipEntry | undefined, zip: Zip): string {
  return entry === undefined || entry.size > 200 ? '' : Buffer.from(zip.read(entry)).toString('latin1').trim();
}

function mainPart(contentTypes: string): { kind: PackageKind; main: string | undefined } | undefined {
  let found: { kind: PackageKind; main: string | undefined } | undefined;
  readXml(contentTypes, {
    open(_name, attributes) {
      const type = attributes.get('ContentType') ?? '';
      const kind = MAIN_PARTS.find(([pattern]) => pattern.test(type))?.[1];
      if (kind !== undefined) found ??= { kind, main: attributes.get('PartName')?.replace(/^\/+/, '') };
    },
  });
  return found;
}

function refuseEncrypted(manifest: string): void {
  if (/encryption-data/.test(manifest)) throw new Refusal('is protected by a password');
}
