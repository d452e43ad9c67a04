import type { Run } from './highlight.ts';
import { inSlices } from './schedule.ts';

/** The lines of a block of code, an element each, so that colouring one does not touch the others. */
export interface CodeLines {
  /** Shows this code; what it has in common with the code before stays as it is. */
  show(code: string): void;
  /** Colours the lines that are still what was asked about; calls back when it is through. */
  colour(lines: readonly (readonly Run[])[], then: () => void): void;
  stop(): void;
}

interface Line {
  readonly element: HTMLElement;
  text: string;
  /** The runs it is shown with, for comparing. */
  key: string;
}

/** Takes `code` for itself: whatever is in it is replaced by the first text that is shown. */
export function createCodeLines(code: HTMLElement): CodeLines {
  const lines: Line[] = [];
  let whole = '';
  let stopped = false;

  function append(text: string): void {
    for (const [index, part] of text.split('\n').entries()) {
      const last = lines.at(-1);
      if (index === 0 && last !== undefined) {
        if (part === '') continue;
        last.text += part;
        last.key = '';
        const end = last.element.lastChild;
        if (end instanceof Text) end.appendData(part);
        else last.element.append(part);
      } else {
        // Line ends are in the text, or they would be missing from what a reader selects and copies.
        if (last !== undefined) code.append('\n');
        const element = document.createElement('span');
        element.className = 'markdown-line';
        if (part !== '') element.append(part);
        code.append(element);
        lines.push({ element, text: part, key: '' });
      }
    }
  }

  function colourLine(line: Line, runs: readonly Run[]): void {
    const text = runs.map(([part]) => part).join('');
    if (!line.text.startsWith(text)) return;
    const rest = line.text.slice(text.length);
    const all: Run[] = rest === '' ? [...runs] : [...runs, [rest, '']];
    const key = JSON.stringify(all);
    if (key === line.key) return;
    line.key = key;
    line.element.replaceChildren(
      ...all.map(([part, className]) => {
        if (className === '') return part;
        const element = document.createElement('span');
        element.className = className;
        element.append(part);
        return element;
      }),
    );
  }

  return {
    show: (next) => {
      if (next === whole && lines.length > 0) return;
      if (next.startsWith(whole) && lines.length > 0) append(next.slice(whole.length));
      else {
        lines.length = 0;
        code.replaceChildren();
        append(next);
      }
      whole = next;
    },
    colour: (runs, then) => {
      let index = 0;
      inSlices(() => {
        for (let count = 0; count < 10; count++, index++) {
          const line = lines[index];
          const of = runs[index];
          if (stopped || line === undefined || of === undefined) {
            then();
            return false;
          }
          colourLine(line, of);
        }
        return true;
      });
    },
    stop: () => {
      stopped = true;
    },
  };
}
