/** What an answer in JSON is, whatever a model wrote around it: the first block labelled so, or else all of it. */
export function jsonIn(text: string): string {
  const block = fencedBlock(text, ['json']).trim();
  return block === '' ? text.trim() : block;
}

/**
 * The body of the first fenced code block (CommonMark §4.5) whose language is one of `languages`; of the very first block
 * when any will do. Without any block: the whole text when any language will do, else nothing.
 */
export function fencedBlock(text: string, languages: readonly string[] | undefined): string {
  const wanted = languages?.map((language) => language.trim().toLowerCase());
  let hasBlock = false;
  const lines = text.split('\n');
  for (let start = 0; start < lines.length; start += 1) {
    const opening = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))(.*)$/.exec(lines[start] ?? '');
    if (opening?.[1] === undefined || (opening[1].startsWith('`') && opening[2]?.includes('`'))) continue;
    hasBlock = true;
    const fence = opening[1];
    const isEnd = (line: string): boolean => {
      const closing = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
      return closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length;
    };
    let end = start + 1;
    while (end < lines.length && !isEnd(lines[end] ?? '')) end += 1;
    if (wanted === undefined || wanted.includes((opening[2] ?? '').trim().split(/\s/, 1)[0]?.toLowerCase() ?? ''))
      return lines.slice(start + 1, end).join('\n');
    start = end;
  }
  return wanted === undefined && !hasBlock ? text : '';
}
