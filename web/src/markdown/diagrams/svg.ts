/** The little of SVG that diagrams are made of. Text is escaped here, and nowhere else. */

/** Colours for light and dark pages, by what they are for. */
const STYLE = `:root{color-scheme:light dark}
text{font:14px system-ui,sans-serif;fill:light-dark(#1d2023,#e8e6e3);text-anchor:middle;dominant-baseline:central}
text.small{font-size:12px;fill:light-dark(#4d5258,#b4b9be)}text.start{text-anchor:start}
.box{fill:light-dark(#fff,#23272b);stroke:light-dark(#0b6a6e,#4fc3bf);stroke-width:1.5}
.note{fill:light-dark(#e1f0ef,#16343a);stroke:none}
.line{fill:none;stroke:light-dark(#5b6066,#a3a8ad);stroke-width:1.5}.dotted{stroke-dasharray:4 4}.thick{stroke-width:3}
.head{fill:light-dark(#5b6066,#a3a8ad)}.back{fill:light-dark(#f5f3ef,#121416)}
.frame{fill:none;stroke:light-dark(#b9b3aa,#4d545b);stroke-dasharray:6 4}`;

const MARKERS =
  '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse">' +
  '<path class="head" d="M0 0L10 5L0 10z"/></marker></defs>';

/** A whole drawing, with its style and the heads of arrows. Sizes are in pixels. */
export function svg(width: number, height: number, body: string): string {
  const size = `width="${Math.ceil(width)}" height="${Math.ceil(height)}" viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><style>${STYLE}</style>${MARKERS}${body}</svg>`;
}

/** In pixels, from the upper left. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A label as it is broken into lines, and the room that it takes, in pixels. */
export interface Lines {
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
}

const canvas = new OffscreenCanvas(1, 1).getContext('2d');
const LINE = 19;

/** A label in lines of about `widest` pixels; `<br>` and `\n` break it too. */
export function measure(label: string, widest = 220, font = 14): Lines {
  if (canvas !== null) canvas.font = `${font}px system-ui, sans-serif`;
  const widthOf = (text: string) => canvas?.measureText(text).width ?? text.length * 8;
  const lines: string[] = [];
  for (const part of label.slice(0, 500).split(/<br\s*\/?>|\\n|\n/i)) {
    let line = '';
    for (const word of part.trim().split(/\s+/)) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (line !== '' && widthOf(longer) > widest) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    lines.push(line);
  }
  return { lines, width: Math.max(...lines.map(widthOf)), height: lines.length * LINE };
}

/** A label with its middle at `x` and `y`; one of the class `start` begins at `x`. */
export function text({ lines }: Lines, x: number, y: number, className = ''): string {
  const top = y - ((lines.length - 1) * LINE) / 2;
  return lines
    .map(
      (line, index) =>
        `<text class="${className}" x="${round(x)}" y="${round(top + index * LINE)}">${escaped(line)}</text>`,
    )
    .join('');
}

/** From its upper left corner. */
export function rectangle(x: number, y: number, width: number, height: number, className: string, radius = 4): string {
  return `<rect class="${className}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="${radius}"/>`;
}

/** `ends`: which of them are arrows. */
export function path(d: string, className: string, ends: { begin?: boolean; end?: boolean } = {}): string {
  const markers = `${ends.begin === true ? ' marker-start="url(#arrow)"' : ''}${ends.end === true ? ' marker-end="url(#arrow)"' : ''}`;
  return `<path class="${className}" d="${d}"${markers}/>`;
}

/** To a tenth. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
