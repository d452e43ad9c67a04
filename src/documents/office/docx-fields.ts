import { decodeEntities } from '../xml.ts';
import type { Target } from './package.ts';

/** What a run of fields consists of: where one begins, its instruction, where its result begins, where it ends. */
const FIELD = /<w:fldChar\b([^<>]*)>|<w:instrText\b[^<>]*>([^<]*)<|<\/w:p>/g;
const FIELD_TYPE = /\bw:fldCharType="(begin|separate|end)"/;

interface Field {
  instruction: string;
  /** Where its result begins, in a run of its own. */
  start: number | undefined;
}

/**
 * Links in Word documents that are fields (`HYPERLINK "address"`) rather than link elements, as LibreOffice writes addresses
 * with a fragment and Word those that it made itself. The library that reads the document knows only the elements, so each
 * result is put into one. Returns the changed XML and the targets that it names.
 */
export function linkFields(xml: string): { xml: string; targets: Map<string, Target> } {
  const targets = new Map<string, Target>();
  const fields: Field[] = [];
  let changed = '';
  let copied = 0;
  for (const match of xml.matchAll(FIELD)) {
    const [mark, attributes = '', instruction] = match;
    const kind = FIELD_TYPE.exec(attributes)?.[1];
    const field = fields.at(-1);
    if (mark === '</w:p>') fields.length = 0;
    else if (kind === 'begin') fields.push({ instruction: '', start: undefined });
    else if (instruction !== undefined && field !== undefined) field.instruction += instruction;
    else if (kind === 'separate' && field !== undefined) field.start = match.index;
    else if (kind === 'end') {
      fields.pop();
      const address = addressOf(field?.instruction ?? '');
      // Inside another field's result there is no place for a link of its own.
      if (address === undefined || field?.start === undefined || fields.length > 0) continue;
      const result = xml.slice(field.start, match.index);
      const start = field.start + endOfRun(result);
      const end = field.start + startOfRun(result);
      if (end <= start) continue;
      const id = `field${targets.size + 1}`;
      targets.set(id, { address, isExternal: true });
      changed += `${xml.slice(copied, start)}<w:hyperlink r:id="${id}">${xml.slice(start, end)}</w:hyperlink>`;
      copied = end;
    }
  }
  return { xml: changed + xml.slice(copied), targets };
}

/** `HYPERLINK "address" \l "fragment"` (ECMA-376 part 1, §17.16.5.25); links inside the document are left alone. */
function addressOf(instruction: string): string | undefined {
  const parts = /^\s*HYPERLINK\s+"([^"]+)"(?:[^"]*\\l\s+"([^"]*)")?/i.exec(decodeEntities(instruction));
  if (parts?.[1] === undefined) return undefined;
  return parts[2] === undefined ? parts[1] : `${parts[1]}#${parts[2]}`;
}

function endOfRun(xml: string): number {
  return xml.indexOf('</w:r>') + '</w:r>'.length;
}

function startOfRun(xml: string): number {
  return Math.max(xml.lastIndexOf('<w:r>'), xml.lastIndexOf('<w:r '));
}
