import type { ConversionLimits, Markdown } from '../conversion.ts';
import { readWithLibrary } from './library.ts';
import { NO_STYLES } from './odt-styles.ts';

/** Rich Text Format (specification 1.9.1), which is bytes: a word for the program, a sign for it, a group, or text. */
const TOKEN = /\\(?:([a-z]+)(-?\d{1,9})? ?|'[\da-f]{2}|.)|[{}]|[^\\{}]+/gis;

/** `title` is absent where the document has none. */
export async function rtfToMarkdown(bytes: Uint8Array, limits: ConversionLimits): Promise<Markdown> {
  const rtf = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const made = await readWithLibrary(Buffer.from(repairRtf(rtf), 'latin1'), 'rtf', NO_STYLES, limits);
  const title = titleOf(rtf);
  return title === '' ? made : { ...made, title };
}

/** As far as what is said about a document may be from its beginning, behind its fonts and styles, and how long a title is. */
const INFO_WITHIN = 500_000;
const TITLE = /\{\\info\b[^{}]*(?:\{(?!\\title\b)[^{}]*\}[^{}]*)*\{\\title ?((?:[^{}\\]|\\.){1,2000})\}/s;

/** The title that is said in what is said about the document; the library does not read it. */
function titleOf(rtf: string): string {
  const head = rtf.slice(0, INFO_WITHIN);
  const codePage = /\\ansicpg(\d{1,5})/.exec(head)?.[1] ?? '1252';
  const title = TITLE.exec(head)?.[1] ?? '';
  const decoded = title.replace(
    /\\u(-?\d{1,5}) ?(?:\\'[\da-f]{2}|[^\\])?|((?:\\'[\da-f]{2})+)|\\([\\{}])|\\[a-z]+-?\d{0,9} ?/gi,
    (_, unicode: string | undefined, bytes: string | undefined, sign: string | undefined) => {
      if (unicode !== undefined) return String.fromCharCode(Number(unicode) & 0xffff);
      return bytes === undefined ? (sign ?? '') : inCodePage(Buffer.from(bytes.replaceAll("\\'", ''), 'hex'), codePage);
    },
  );
  return decoded.toWellFormed().replace(/\s+/g, ' ').trim();
}

function inCodePage(bytes: Uint8Array, codePage: string): string {
  const names: Readonly<Record<string, string>> = { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5' };
  try {
    return new TextDecoder(names[codePage] ?? `windows-${codePage}`).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

interface Group {
  /** Its text was deleted while changes were tracked, or is hidden. */
  readonly isGone: boolean;
  /** What the group is for, if it is for something of its own. */
  readonly destination: string;
}

/** What a document begins as, and goes on as where more groups end than began. */
const NO_GROUP: Group = { isGone: false, destination: '' };

/**
 * What the library takes for text or does not know: deleted and hidden text, pictures as they are, signs for dashes, spaces
 * and hyphens. Comments become footnotes.
 */
export function repairRtf(rtf: string): string {
  const kept: string[] = [];
  const outer: Group[] = [];
  let group = NO_GROUP;
  let author = '';
  // Behind `\*` the next word says what its group is for.
  let isMarked = false;
  for (const { token, word, value } of tokensOf(rtf)) {
    if (token === '{') {
      outer.push(group);
      group = { ...group, destination: '' };
    } else if (token === '}') group = outer.pop() ?? NO_GROUP;
    else if (word !== undefined) {
      if (word === 'v' || word === 'deleted') group = { ...group, isGone: value !== '0' };
      if (word === 'plain') group = { ...group, isGone: false };
      if (isMarked) group = { ...group, destination: word };
      if (isMarked && word === 'atnauthor') author = '';
    } else if (group.destination === 'atnauthor' && !/[{}]/.test(token)) author += token;

    if (isMarked && word === 'annotation') {
      // In the place of `\*`.
      kept[kept.length - 1] = `\\footnote Comment${author === '' ? '' : ` by ${author}`}: `;
      author = '';
    } else if (!group.isGone || isWordOf(token, word)) kept.push(SIGNS.get(word ?? token) ?? token);
    isMarked = token === '\\*';
  }
  return kept.join('');
}

interface Token {
  readonly token: string;
  /** Of a word for the program, with the number behind it. */
  readonly word: string | undefined;
  readonly value: string | undefined;
}

/** All tokens but the bytes of pictures (`\bin`), which hold braces and all. */
function* tokensOf(rtf: string): Generator<Token> {
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(rtf); match !== null; match = TOKEN.exec(rtf)) {
    const [token, word, value] = match;
    if (word === 'bin') TOKEN.lastIndex += Math.max(0, Number(value ?? 0));
    else yield { token, word, value };
  }
}

/** What has to stay of text that is gone: groups, and what changes how the text behind it looks. */
function isWordOf(token: string, word: string | undefined): boolean {
  return word === undefined
    ? token === '{' || token === '}' || token === '\\*'
    : word !== 'u' && word !== 'tab' && !SIGNS.has(word);
}

const SIGNS: ReadonlyMap<string, string> = new Map([
  ['\\~', ' '],
  ['\\_', '-'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['endash', '{\\uc1\\u8211?}'],
  ['emdash', '{\\uc1\\u8212?}'],
  ['bullet', '{\\uc1\\u8226?}'],
]);
