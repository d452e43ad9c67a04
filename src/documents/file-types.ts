import { type MediaType, mediaTypeOf } from '../core/media-types.ts';

/** What a file's name says it is. */
export type Claim =
  | { readonly kind: 'text' | 'html' | 'csv' | 'notebook' | 'mail' | 'pdf' | 'rtf' | 'package' | 'zip' }
  | ({ readonly extension: string } & MediaType);

/** The text types of the contract, then what programmers and writers upload besides. */
const TEXT = [
  'txt xml json js har sh py php css yaml sql log csv twig md arc',
  'text markdown mdx rst adoc asciidoc tex bib org srt vtt ics vcf po diff patch',
  'yml toml ini cfg conf env properties editorconfig gitignore dockerignore lock jsonl ndjson json5 jsonc geojson',
  'xsd xsl xslt svg rss atom kml gpx plist wsdl graphql gql proto thrift avsc tf hcl nix cmake gradle mk make ninja',
  'mjs cjs jsx ts mts cts tsx vue svelte astro less scss sass styl ejs hbs mustache pug jinja j2 liquid erb haml',
  'pyi pyx ipy rb rake gemspec pl pm t lua tcl r rmd jl m mat do sas ps1 psm1 bat cmd bash zsh fish ksh awk sed',
  'c h cc cpp cxx hpp hh hxx ino cs csx vb fs fsx fsi java kt kts scala groovy clj cljs cljc edn swift mm',
  'go rs zig nim d v vhd vhdl sv asm s wat dart elm ex exs erl hrl hs lhs ml mli ocaml lisp el scm rkt pas pp f f90 f95 for cob cbl ada adb ads sol',
  'prisma ddl dot gv puml mmd cue rego bicep feature robot http rest',
].flatMap((line) => line.split(' '));

const BY_EXTENSION: ReadonlyMap<string, Claim> = new Map<string, Claim>([
  ...TEXT.map((extension) => [extension, { kind: 'text' }] as const),
  ...['html', 'htm', 'xhtml'].map((extension) => [extension, { kind: 'html' }] as const),
  ...['csv', 'tsv'].map((extension) => [extension, { kind: 'csv' }] as const),
  ['ipynb', { kind: 'notebook' }],
  ['eml', { kind: 'mail' }],
  ['pdf', { kind: 'pdf' }],
  ['rtf', { kind: 'rtf' }],
  ...['docx', 'docm', 'xlsx', 'xlsm', 'pptx', 'pptm', 'ppsx', 'odt', 'ods', 'odp', 'epub'].map(
    (extension) => [extension, { kind: 'package' }] as const,
  ),
  ['zip', { kind: 'zip' }],
]);

/** Types that servers give → the extension that says as much. */
const BY_MIME_TYPE: ReadonlyMap<string, string> = new Map([
  ['text/html', 'html'],
  ['application/xhtml+xml', 'html'],
  ['application/pdf', 'pdf'],
  ['application/rtf', 'rtf'],
  ['text/rtf', 'rtf'],
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'tsv'],
  ['application/x-ipynb+json', 'ipynb'],
  ['message/rfc822', 'eml'],
  ['application/epub+zip', 'epub'],
  ['application/zip', 'zip'],
  ...[
    ['wordprocessingml.document', 'docx'],
    ['spreadsheetml.sheet', 'xlsx'],
    ['presentationml.presentation', 'pptx'],
  ].map(([type, extension = '']) => [`application/vnd.openxmlformats-officedocument.${type}`, extension] as const),
  ...[
    ['text', 'odt'],
    ['spreadsheet', 'ods'],
    ['presentation', 'odp'],
  ].map(([type, extension = '']) => [`application/vnd.oasis.opendocument.${type}`, extension] as const),
]);

/** What to call a file that came from an address, so that its name says what it is: its type, or else the end of its path. */
export function nameOfFetched(path: string, mimeType: string): string {
  const extension = BY_MIME_TYPE.get(mimeType);
  if (extension !== undefined) return `document.${extension}`;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const isText = mimeType.startsWith('text/') || /[/+](json|xml|yaml)$/.test(mimeType);
  return isText && claimOf(name) === undefined ? 'document.txt' : name;
}

/** Whatever the case of the extension; undefined for a type that is not taken in. A name without any is text, or nothing. */
export function claimOf(name: string): Claim | undefined {
  const extension = extensionOf(name);
  if (extension === '') return { kind: 'text' };
  const media = mediaTypeOf(name);
  return media === undefined ? BY_EXTENSION.get(extension) : { extension, ...media };
}

/** In lower case, without the dot; empty when the name has none. */
export function extensionOf(name: string): string {
  const file = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
  const dot = file.lastIndexOf('.');
  return dot === -1 ? '' : file.slice(dot + 1).toLowerCase();
}
