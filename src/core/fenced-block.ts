/** What an answer in JSON is, whatever a model wrote around it: the first block labelled so, or else all of it. */
export function jsonIn(text: string): string {
  const block = fencedBlock(text, ['json']).trim();
  return block === '' ? text.trim() : block;
}

/**
 * The body of the first fenced code block (CommonMark §4.5) whose language is one of `languages`; of the very first block
 * when any will do. Without any block: the whole text when any language will do, else nothing. Models also begin a block at
 * the end of a sentence ("Here it is: ```json"): that is one where a line alone ends it.
 */
export function fencedBlock(text: string, languages: readonly string[] | undefined): string {
  const wanted = languages?.map((language) => language.trim().toLowerCase());
  let hasBlock = false;
  /** Whether a block that begins in a sentence may have an end: where one has none, those behind it have none either. */
  let mayEnd = true;
  const lines = text.split('\n');
  for (let start = 0; start < lines.length; start += 1) {
    const opening = openingOf(lines[start] ?? '');
    if (opening === undefined || (opening.isInline && !mayEnd)) continue;
    const { fence, info, isInline } = opening;
    const isEnd = (line: string): boolean => {
      const closing = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
      return closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length;
    };
    let end = start + 1;
    while (end < lines.length && !isEnd(lines[end] ?? '')) end += 1;
    if (isInline && end === lines.length) {
      mayEnd = false;
      continue;
    }
    hasBlock = true;
    if (wanted === undefined || wanted.includes(info.trim().split(/\s/, 1)[0]?.toLowerCase() ?? ''))
      return lines.slice(start + 1, end).join('\n');
    start = end;
  }
  return wanted === undefined && !hasBlock ? text : '';
}

const INLINE_FENCE = '```';

interface Opening {
  readonly fence: string;
  readonly info: string;
  /** Something stands before it in its line. */
  readonly isInline: boolean;
}

function openingOf(line: string): Opening | undefined {
  const [, fence, info = ''] = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))(.*)$/.exec(line) ?? [];
  if (fence !== undefined && !(fence.startsWith('`') && info.includes('`'))) return { fence, info, isInline: false };
  const at = line.indexOf(INLINE_FENCE);
  if (at === -1 || line.indexOf('`') !== at || line.slice(0, at).trim() === '') return undefined;
  const language = line.slice(at + INLINE_FENCE.length).trim();
  return /^[\w+#.-]+$/.test(language) ? { fence: INLINE_FENCE, info: language, isInline: true } : undefined;
}
