import { inLayers } from './layers.ts';
import { type Lines, measure, type Point, path, rectangle, round, svg, text } from './svg.ts';

interface FlowNode {
  readonly id: string;
  label: string;
  shape: string;
}

interface FlowEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly className: string;
  readonly begin: boolean;
  readonly end: boolean;
}

/** Opening marks and the closing ones that belong to them, the longest first. */
const SHAPES: readonly (readonly [open: string, close: string, shape: string])[] = [
  ['(((', ')))', 'circle'],
  ['((', '))', 'circle'],
  ['([', '])', 'stadium'],
  ['[(', ')]', 'rounded'],
  ['[[', ']]', 'box'],
  ['{{', '}}', 'rounded'],
  ['[/', '/]', 'box'],
  ['[\\', '\\]', 'box'],
  ['(', ')', 'rounded'],
  ['[', ']', 'box'],
  ['{', '}', 'diamond'],
  ['>', ']', 'box'],
];

const IGNORED = /^(?:%%|classDef\b|class\b|style\b|linkStyle\b|click\b|accTitle\b|accDescr\b)/;
const ID = /^[\p{L}\p{N}_]+(?:[-.][\p{L}\p{N}_]+)*/u;
/** `-->`, `---`, `==>`, `-.->` and the like, with a label between bars behind it. */
const LINK = /^(<)?(-{2,}(?=[>ox])|-{3,}|={2,}(?=[>ox])|={3,}|-\.+-)([>ox])?\s*(?:\|\s*"?([^|"]*)"?\s*\|)?/;
/** `-- label -->` */
const LABELLED = /^(<)?(--|==|-\.)\s*(?:"([^"]*)"|([^->=.|"\s][^|>]*?))\s*(?:-{2,}|={2,}|\.+-)([>ox])?/;

/** A flow chart in mermaid's notation → SVG. Throws on what it does not know, so that the reader gets the source instead. */
export function flowChart(source: string): string {
  const [first = '', ...rest] = source.split(/[\n;]/);
  const direction = /^\s*(?:graph|flowchart)\s*(TB|TD|BT|LR|RL)?\s*$/.exec(first);
  if (direction === null) throw new SyntaxError('Not a flow chart');
  const nodes = new Map<string, FlowNode>();
  const edges: FlowEdge[] = [];
  for (const line of rest) if (line.trim() !== '' && !IGNORED.test(line.trim())) statement(line.trim(), nodes, edges);
  if (nodes.size === 0 || nodes.size > 150 || edges.length > 300) throw new SyntaxError('Too few or too many nodes');
  return draw([...nodes.values()], edges, direction[1] ?? 'TD');
}

function statement(line: string, nodes: Map<string, FlowNode>, edges: FlowEdge[]): void {
  let [from, rest] = group(line, nodes);
  while (rest !== '') {
    const { length, back, stroke, label, head } = linkAt(rest);
    const [to, after] = group(rest.slice(length).trim(), nodes);
    const className = stroke.startsWith('=') ? 'line thick' : stroke.startsWith('-.') ? 'line dotted' : 'line';
    for (const a of from) {
      for (const b of to) edges.push({ from: a, to: b, label, className, begin: back, end: head === '>' });
    }
    from = to;
    rest = after;
  }
}

interface Link {
  readonly length: number;
  readonly back: boolean;
  readonly stroke: string;
  readonly label: string;
  readonly head: string;
}

function linkAt(rest: string): Link {
  const plain = LINK.exec(rest);
  if (plain !== null) {
    const [whole, back, stroke = '', head = '', label = ''] = plain;
    return { length: whole.length, back: back !== undefined, stroke, label: label.trim(), head };
  }
  const labelled = LABELLED.exec(rest);
  if (labelled === null) throw new SyntaxError('Unknown link');
  const [whole, back, stroke = '', quoted, words = '', head = ''] = labelled;
  return { length: whole.length, back: back !== undefined, stroke, label: (quoted ?? words).trim(), head };
}

/** One node, or several with `&` between them, at the begin of `line`; and the rest of it. */
function group(line: string, nodes: Map<string, FlowNode>): [ids: string[], rest: string] {
  const ids: string[] = [];
  let rest = line;
  for (;;) {
    const id = ID.exec(rest)?.[0];
    if (id === undefined || id === 'subgraph' || id === 'end' || id === 'direction')
      throw new SyntaxError('Unknown node');
    rest = rest.slice(id.length);
    const node = nodes.get(id) ?? { id, label: id, shape: 'box' };
    nodes.set(id, node);
    ids.push(id);
    const shape = SHAPES.find(([open]) => rest.startsWith(open));
    if (shape !== undefined) {
      const [open, close, name] = shape;
      const quoted = rest.startsWith('"', open.length);
      const from = open.length + (quoted ? 1 : 0);
      const end = rest.indexOf(quoted ? `"${close}` : close, from);
      if (end < 0) throw new SyntaxError('Unclosed label');
      node.label = rest.slice(from, end);
      node.shape = name;
      rest = rest.slice(end + close.length + (quoted ? 1 : 0));
    }
    rest = rest.replace(/^:::[\w-]+/, '').trim();
    if (!rest.startsWith('&')) return [ids, rest];
    rest = rest.slice(1).trim();
  }
}

interface Sized {
  readonly node: FlowNode;
  readonly label: Lines;
  readonly width: number;
  readonly height: number;
}

const MARGIN = 12;

function draw(nodes: readonly FlowNode[], edges: readonly FlowEdge[], direction: string): string {
  const sized = new Map(nodes.map((node) => [node.id, sizeOf(node)]));
  const sideways = direction === 'LR' || direction === 'RL';
  const placed = inLayers(
    [...sized].map(([id, { width, height }]) => ({
      id,
      breadth: sideways ? height : width,
      depth: sideways ? width : height,
    })),
    edges,
  );
  // Labels of edges need room beside the outermost ones.
  const width = (sideways ? placed.depth : placed.breadth) + MARGIN * 2 + (sideways ? 0 : 40);
  const height = (sideways ? placed.breadth : placed.depth) + MARGIN * 2 + (sideways ? 20 : 0);
  const point = ({ along, down }: { along: number; down: number }): Point => {
    const turned = direction === 'BT' || direction === 'RL' ? placed.depth - down : down;
    return sideways ? { x: turned + MARGIN, y: along + MARGIN + 10 } : { x: along + MARGIN + 20, y: turned + MARGIN };
  };
  const middle = (id: string) => point(placed.boxes.get(id) ?? { along: 0, down: 0 });
  const lines: string[] = [];
  const labels: string[] = [];
  for (const [index, edge] of edges.entries()) {
    const [from, to] = [sized.get(edge.from), sized.get(edge.to)];
    if (from === undefined || to === undefined) continue;
    const points = [middle(edge.from), ...(placed.bends[index] ?? []).map(point), middle(edge.to)];
    if (edge.from === edge.to) {
      const { x, y } = middle(edge.from);
      const [right, up] = [x + from.width / 2, y - from.height / 4];
      lines.push(
        path(
          `M${round(right)} ${round(up)}q24 ${round(from.height / 4)} 0 ${round(from.height / 2)}`,
          edge.className,
          edge,
        ),
      );
      continue;
    }
    points[0] = border(from, points[0] ?? { x: 0, y: 0 }, points[1] ?? { x: 0, y: 0 });
    points[points.length - 1] = border(to, points.at(-1) ?? { x: 0, y: 0 }, points.at(-2) ?? { x: 0, y: 0 });
    // Two that go between the same boxes in opposite directions stand side by side.
    const aside = edges.some((other) => other.from === edge.to && other.to === edge.from)
      ? edge.from < edge.to
        ? 12
        : -12
      : 0;
    for (const [at, { x, y }] of points.entries()) points[at] = sideways ? { x, y: y + aside } : { x: x + aside, y };
    lines.push(path(curve(points, sideways), edge.className, edge));
    if (edge.label !== '') {
      const at = halfway(points);
      const label = measure(edge.label, 140, 12);
      labels.push(
        rectangle(at.x - label.width / 2 - 4, at.y - label.height / 2, label.width + 8, label.height, 'back'),
      );
      labels.push(text(label, at.x, at.y, 'small'));
    }
  }
  const boxes = [...sized.values()].map((each) => shape(each, middle(each.node.id)));
  return svg(width, height, [...lines, ...boxes, ...labels].join(''));
}

function sizeOf(node: FlowNode): Sized {
  const label = measure(node.label);
  if (node.shape === 'diamond') return { node, label, width: label.width * 1.4 + 48, height: label.height * 1.4 + 36 };
  if (node.shape === 'circle') {
    const size = Math.max(label.width, label.height) + 28;
    return { node, label, width: size, height: size };
  }
  return { node, label, width: label.width + 32, height: label.height + 20 };
}

function shape({ node, label, width, height }: Sized, { x, y }: Point): string {
  const words = text(label, x, y);
  if (node.shape === 'diamond') {
    const [w, h] = [width / 2, height / 2];
    return (
      path(
        `M${round(x)} ${round(y - h)}l${round(w)} ${round(h)}l${round(-w)} ${round(h)}l${round(-w)} ${round(-h)}z`,
        'box',
      ) + words
    );
  }
  const radius = node.shape === 'box' ? 4 : node.shape === 'rounded' ? 12 : Math.min(width, height) / 2;
  return rectangle(x - width / 2, y - height / 2, width, height, 'box', radius) + words;
}

/** Where a line from the middle of a box towards a point leaves it. */
function border({ node, width, height }: Sized, middle: Point, towards: Point): Point {
  const [dx, dy] = [towards.x - middle.x, towards.y - middle.y];
  if (dx === 0 && dy === 0) return middle;
  const [w, h] = [width / 2 + 1, height / 2 + 1];
  const scale =
    node.shape === 'diamond'
      ? 1 / (Math.abs(dx) / w + Math.abs(dy) / h)
      : node.shape === 'circle'
        ? w / Math.hypot(dx, dy)
        : Math.min(w / Math.abs(dx), h / Math.abs(dy));
  return { x: middle.x + dx * Math.min(1, scale), y: middle.y + dy * Math.min(1, scale) };
}

function curve(points: readonly Point[], sideways: boolean): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let d = `M${round(first.x)} ${round(first.y)}`;
  let last = first;
  for (const next of rest) {
    const [mx, my] = [(last.x + next.x) / 2, (last.y + next.y) / 2];
    const [a, b] = sideways
      ? [`${round(mx)} ${round(last.y)}`, `${round(mx)} ${round(next.y)}`]
      : [`${round(last.x)} ${round(my)}`, `${round(next.x)} ${round(my)}`];
    d += `C${a} ${b} ${round(next.x)} ${round(next.y)}`;
    last = next;
  }
  return d;
}

function halfway(points: readonly Point[]): Point {
  const middle = points[Math.floor((points.length - 1) / 2)] ?? { x: 0, y: 0 };
  const next = points[Math.floor((points.length - 1) / 2) + 1] ?? middle;
  if (points.length % 2 === 1) return middle;
  return { x: (middle.x + next.x) / 2, y: (middle.y + next.y) / 2 };
}
