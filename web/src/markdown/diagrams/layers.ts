/** Places the nodes of a graph in layers, so that most edges go one way and few cross. */

interface Box {
  readonly id: string;
  /** Across the layers, and along them. */
  readonly breadth: number;
  readonly depth: number;
}

interface Edge {
  readonly from: string;
  readonly to: string;
}

interface Placed {
  /** The middle of each box: `along` its layer, and `down` from layer to layer. */
  readonly boxes: ReadonlyMap<string, { readonly along: number; readonly down: number }>;
  /** For each edge, the points between its ends at which it passes the layers between. */
  readonly bends: readonly (readonly { readonly along: number; readonly down: number }[])[];
  readonly breadth: number;
  readonly depth: number;
}

interface Node {
  readonly id: string;
  readonly breadth: number;
  readonly depth: number;
  layer: number;
  order: number;
  along: number;
  readonly above: Node[];
  readonly below: Node[];
}

const GAP = 32;
const LAYER_GAP = 56;

/** Sizes and places are in pixels, from the corner where the first layer begins. At least one box is needed. */
export function inLayers(boxes: readonly Box[], edges: readonly Edge[]): Placed {
  const nodes = new Map<string, Node>();
  for (const box of boxes) nodes.set(box.id, { ...box, layer: 0, order: 0, along: 0, above: [], below: [] });
  const forward = withoutCycles(boxes, edges);
  assignLayers(nodes, forward);
  const all = [...nodes.values()];
  const chains = forward.map((edge) => chain(edge, nodes, all));
  const layers: Node[][] = Array.from({ length: Math.max(0, ...all.map((node) => node.layer + 1)) }, () => []);
  for (const node of all) layers[node.layer]?.push(node);
  order(layers);
  align(layers);
  const left = Math.min(...all.map((node) => node.along - node.breadth / 2));
  const downs: number[] = [];
  let depth = 0;
  for (const layer of layers) {
    const deepest = Math.max(...layer.map((node) => node.depth));
    downs.push(depth + deepest / 2);
    depth += deepest + LAYER_GAP;
  }
  const spot = (node: Node) => ({ along: node.along - left, down: downs[node.layer] ?? 0 });
  return {
    boxes: new Map([...nodes].map(([id, node]) => [id, spot(node)])),
    bends: chains.map((between, index) => {
      const points = between.map(spot);
      return forward[index]?.turned === true ? points.reverse() : points;
    }),
    breadth: Math.max(...all.map((node) => node.along + node.breadth / 2)) - left,
    depth: depth - LAYER_GAP,
  };
}

interface Forward extends Edge {
  readonly turned: boolean;
}

/** Turns round the edges that close a circle. */
function withoutCycles(boxes: readonly Box[], edges: readonly Edge[]): Forward[] {
  const outgoing = Map.groupBy(edges, (edge) => edge.from);
  const state = new Map<string, 'open' | 'done'>();
  const turned = new Set<Edge>();
  const visit = (id: string) => {
    state.set(id, 'open');
    for (const edge of outgoing.get(id) ?? []) {
      if (state.get(edge.to) === 'open') turned.add(edge);
      else if (!state.has(edge.to)) visit(edge.to);
    }
    state.set(id, 'done');
  };
  for (const { id } of boxes) if (!state.has(id)) visit(id);
  return edges.map((edge) =>
    turned.has(edge) ? { from: edge.to, to: edge.from, turned: true } : { ...edge, turned: false },
  );
}

function assignLayers(nodes: ReadonlyMap<string, Node>, edges: readonly Forward[]): void {
  // Without circles the longest way has fewer steps than there are nodes.
  for (let round = 0; round < nodes.size; round++) {
    let moved = false;
    for (const { from, to } of edges) {
      const [upper, lower] = [nodes.get(from), nodes.get(to)];
      if (upper === undefined || lower === undefined || upper === lower || lower.layer > upper.layer) continue;
      lower.layer = upper.layer + 1;
      moved = true;
    }
    if (!moved) return;
  }
}

/** Connects both ends, through nodes without size in the layers between. */
function chain({ from, to }: Edge, nodes: ReadonlyMap<string, Node>, all: Node[]): Node[] {
  const [begin, end] = [nodes.get(from), nodes.get(to)];
  if (begin === undefined || end === undefined || begin === end) return [];
  const between: Node[] = [];
  let last = begin;
  for (let layer = begin.layer + 1; layer < end.layer; layer++) {
    const node: Node = { id: '', breadth: 8, depth: 0, layer, order: 0, along: 0, above: [last], below: [] };
    last.below.push(node);
    between.push(node);
    all.push(node);
    last = node;
  }
  last.below.push(end);
  end.above.push(last);
  return between;
}

function order(layers: readonly Node[][]): void {
  for (const layer of layers) for (const [index, node] of layer.entries()) node.order = index;
  for (let sweep = 0; sweep < 12; sweep++) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : layers.toReversed()) {
      const weights = new Map(
        layer.map((node) => [node, mean(down ? node.above : node.below, (each) => each.order) ?? node.order]),
      );
      layer.sort((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0));
      for (const [index, node] of layer.entries()) node.order = index;
    }
  }
}

/** Moves each node towards those it is connected with, as far as its neighbours let it. */
function align(layers: readonly Node[][]): void {
  for (const layer of layers) spread(layer);
  for (let sweep = 0; sweep < 16; sweep++) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : layers.toReversed()) {
      for (const node of layer) node.along = mean(down ? node.above : node.below, (each) => each.along) ?? node.along;
      spread(layer);
    }
  }
}

/** Makes room between the nodes of a layer, keeping their middle where it was. */
function spread(layer: readonly Node[]): void {
  const before = mean(layer, (node) => node.along) ?? 0;
  let last: Node | undefined;
  for (const node of layer) {
    if (last !== undefined) node.along = Math.max(node.along, last.along + (last.breadth + node.breadth) / 2 + GAP);
    last = node;
  }
  const shift = before - (mean(layer, (node) => node.along) ?? 0);
  for (const node of layer) node.along += shift;
}

function mean(nodes: readonly Node[], value: (node: Node) => number): number | undefined {
  if (nodes.length === 0) return undefined;
  return nodes.reduce((sum, node) => sum + value(node), 0) / nodes.length;
}
