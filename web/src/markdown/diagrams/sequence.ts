import { measure, path, rectangle, round, svg, text } from './svg.ts';

const MESSAGE = /^([^-:]+?)\s*(--?(?:>>|>|x|\)))\s*([+-]?)([^:+-][^:]*?)\s*:\s*(.*)$/;
const PARTICIPANT = /^(?:create\s+)?(?:participant|actor)\s+(.+?)(?:\s+as\s+(.+))?$/;
const NOTE = /^note\s+(over|left of|right of)\s+([^:,]+?)(?:\s*,\s*([^:]+?))?\s*:\s*(.*)$/i;
const FRAME = /^(loop|alt|opt|par|critical|break|rect)\b\s*(.*)$/;
const BRANCH = /^(else|and|option)\b\s*(.*)$/;
const IGNORED = /^(?:%%|activate\b|deactivate\b|autonumber\b|title\b|link\b|links\b|box\b|accTitle|accDescr|destroy\b)/;

const COLUMN = 40;
const MARGIN = 12;

/** A sequence diagram in mermaid's notation → SVG. Throws on what it does not know. */
export function sequenceDiagram(source: string): string {
  const [first = '', ...rest] = source.split('\n').map((line) => line.trim());
  if (first !== 'sequenceDiagram') throw new SyntaxError('Not a sequence diagram');
  const lines = rest.filter((line) => line !== '' && !IGNORED.test(line));
  if (lines.length > 300) throw new SyntaxError('Too many steps');
  const names = participants(lines);
  if (names.size === 0 || names.size > 30) throw new SyntaxError('Too few or too many participants');

  const heads = [...names.values()].map((name) => measure(name, 160));
  const headHeight = Math.max(...heads.map((head) => head.height)) + 20;
  const widest = Math.max(...lines.map((line) => measure(MESSAGE.exec(line)?.[5] ?? '', 200, 12).width), 60);
  const column = Math.max(widest + COLUMN, ...heads.map((head) => head.width + 24 + COLUMN));
  const xs = new Map([...names.keys()].map((id, index) => [id, MARGIN + column / 2 + index * column]));
  const x = (id: string | undefined) => {
    const found = xs.get(id?.trim() ?? '');
    if (found === undefined) throw new SyntaxError('Unknown participant');
    return found;
  };
  const width = names.size * column + MARGIN * 2;
  const parts: string[] = [];
  const frames: { y: number; depth: number }[] = [];
  let y = MARGIN + headHeight + 28;

  for (const line of lines) {
    const message = MESSAGE.exec(line);
    const note = NOTE.exec(line);
    const frame = FRAME.exec(line);
    const branch = BRANCH.exec(line);
    if (PARTICIPANT.test(line)) continue;
    if (message !== null) {
      const [, from, arrow = '', , to, label = ''] = message;
      const words = measure(label, 200, 12);
      const [begin, end] = [x(from), x(to)];
      const className = arrow.startsWith('--') ? 'line dotted' : 'line';
      y += words.height;
      if (begin === end) {
        parts.push(text(words, begin + 14 + words.width / 2, y - words.height / 2 - 2, 'small'));
        parts.push(path(`M${round(begin)} ${y + 4}h34v16h-32`, className, { end: true }));
        y += 24;
      } else {
        parts.push(text(words, (begin + end) / 2, y - words.height / 2 - 2, 'small'));
        parts.push(
          path(`M${round(begin)} ${y + 6}H${round(end + (end > begin ? -2 : 2))}`, className, {
            end: arrow !== '->' && arrow !== '-->',
          }),
        );
      }
      y += 22;
    } else if (note !== null) {
      const [, side = '', one, two, label = ''] = note;
      const words = measure(label, 200, 12);
      const shift =
        side.toLowerCase() === 'over' ? 0 : (side.toLowerCase() === 'left of' ? -1 : 1) * (words.width / 2 + 20);
      const middle = two === undefined ? x(one) + shift : (x(one) + x(two)) / 2;
      const breadth = Math.max(words.width + 20, two === undefined ? 0 : Math.abs(x(one) - x(two)) + 40);
      parts.push(rectangle(middle - breadth / 2, y, breadth, words.height + 10, 'note'));
      parts.push(text(words, middle, y + words.height / 2 + 5, 'small'));
      y += words.height + 26;
    } else if (frame !== null || branch !== null) {
      const [, kind = '', label = ''] = frame ?? branch ?? [];
      if (frame !== null) frames.push({ y: y - 6, depth: frames.length });
      else
        parts.push(
          path(`M${MARGIN + frames.length * 6} ${y - 6}H${round(width - MARGIN - frames.length * 6)}`, 'frame'),
        );
      const words = measure(kind === 'rect' ? '' : `${kind} ${label}`, 400, 12);
      parts.push(text(words, MARGIN + frames.length * 6 + 8, y + 6, 'small start'));
      y += words.height + 12;
    } else if (line === 'end') {
      const opened = frames.pop();
      if (opened === undefined) throw new SyntaxError('Nothing to end');
      const inset = MARGIN + opened.depth * 6;
      parts.push(rectangle(inset, opened.y, width - inset * 2, y - opened.y, 'frame'));
      y += 14;
    } else throw new SyntaxError('Unknown statement');
  }

  const lifelines = [...xs.values()].map((at) => path(`M${round(at)} ${MARGIN + headHeight}V${round(y)}`, 'frame'));
  const boxes = heads.map((head, index) => {
    const at = MARGIN + column / 2 + index * column;
    return (
      rectangle(at - head.width / 2 - 12, MARGIN, head.width + 24, headHeight, 'box') +
      text(head, at, MARGIN + headHeight / 2)
    );
  });
  return svg(width, y + MARGIN, [...lifelines, ...parts, ...boxes].join(''));
}

/** Those that are declared, then those that are only used, in order; with their names. */
function participants(lines: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const line of lines) {
    const [, id, name] = PARTICIPANT.exec(line) ?? [];
    if (id !== undefined) names.set(id, name ?? id);
  }
  for (const line of lines) {
    const [, from, , , to] = MESSAGE.exec(line) ?? [];
    for (const id of [from?.trim(), to?.trim()]) if (id !== undefined && !names.has(id)) names.set(id, id);
  }
  return names;
}
