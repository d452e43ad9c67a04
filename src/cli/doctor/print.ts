import { forTerminal } from '../table.ts';
import type { Mark, Section } from './finding.ts';

const MARKS: Readonly<Record<Mark, string>> = { good: '✓', note: '!', wrong: '✗' };
const COLOURS: Readonly<Record<Mark, string>> = { good: '\x1b[32m', note: '\x1b[33m', wrong: '\x1b[31m' };
const BOLD = '\x1b[1m';
const PLAIN = '\x1b[0m';

/** Whether colours are wanted: on a terminal, unless NO_COLOR says otherwise (no-color.org). */
export function wantsColour(stream: { readonly isTTY?: boolean }, environment: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
}

/** A section as text. Without colours the marks say everything. */
export function sectionText({ title, findings }: Section, colour: boolean, mask: (text: string) => string): string {
  const paint = (style: string, text: string) => (colour ? `${style}${text}${PLAIN}` : text);
  const lines = findings.flatMap(({ mark, text, mend }) => [
    `  ${paint(COLOURS[mark], MARKS[mark])} ${forTerminal(mask(text))}`,
    ...(mend === undefined ? [] : [`    → ${forTerminal(mask(mend))}`]),
  ]);
  return `${paint(BOLD, title)}\n${lines.join('\n')}\n`;
}

/** The last line. */
export function verdict(sections: readonly Section[]): string {
  const count = sections.flatMap(({ findings }) => findings).filter(({ mark }) => mark === 'wrong').length;
  if (count === 0) return 'Nothing is wrong.\n';
  return count === 1 ? 'One thing is wrong: see the ✗ above.\n' : `${count} things are wrong: see the ✗ above.\n`;
}
