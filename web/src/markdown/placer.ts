import { limits } from './limits.ts';
import { patch, patchChildren } from './morph.ts';
import type { Container } from './reader.ts';

/** Puts rendered blocks into the page: finished ones once, behind them the one that is still being written. */
export interface Placer {
  /**
   * Puts finished blocks; `stays` says that the last of them is a container that goes on. The result puts the same blocks
   * again when they look different.
   */
  commit(nodes: readonly Node[], stays?: Container): (newer: readonly Node[]) => void;
  /** Puts what may still change behind what is finished, and takes away what is behind that. */
  tail(nodes: readonly Node[]): void;
  /** Says that the one block of the tail is finished. */
  pass(): void;
  /** Begins again from the first block; what is in the page is changed where it has to be. */
  reset(): void;
}

interface Open {
  readonly kind: Container;
  readonly body: Element;
  /** How many of its parts are finished. */
  count: number;
}

/** The blocks are the children of `root`, which nobody else changes. */
export function createPlacer(root: Element): Placer {
  /** How many blocks are finished; the one behind them may be open. */
  let top = 0;
  let open: Open | undefined;

  /** Of blocks that begin with more of the open container: its parts, taken out of `blocks`. */
  function continued(blocks: Element[], count: number): ChildNode[] {
    const body = open === undefined ? undefined : bodyOf(blocks[0], open.kind);
    if (body === undefined) return [];
    blocks.shift();
    if (open?.kind === 'table') hideRows(body, open.body.closest('[data-all]') === null ? count : -Infinity);
    return [...body.childNodes];
  }

  return {
    commit: (nodes, stays) => {
      const blocks = arranged(nodes);
      const all = [...blocks];
      const targets: (Node | undefined)[] = [];
      let parts: { body: Element; from: number; kind: Container } | undefined;
      if (open !== undefined) {
        const more = continued(blocks, open.count);
        const goesOn = stays !== undefined && blocks.length === 0;
        parts = { body: open.body, from: open.count, kind: open.kind };
        patchChildren(open.body, open.count, more, !goesOn);
        open.count += more.length;
        if (all.length > blocks.length) targets.push(undefined);
        if (!goesOn) {
          top++;
          open = undefined;
        }
      }
      for (const [index, block] of blocks.entries()) {
        const isOpen = stays !== undefined && index === blocks.length - 1;
        const count = isOpen ? (bodyOf(block, stays)?.childNodes.length ?? 0) : 0;
        const old = root.childNodes[top];
        if (old === undefined) patchChildren(root, top, [block], false);
        else patch(old, block, !isOpen);
        const placed = root.childNodes[top];
        targets.push(placed);
        const body = isOpen && placed instanceof Element ? bodyOf(placed, stays) : undefined;
        if (body !== undefined && isOpen) open = { kind: stays, body, count };
        else top++;
      }
      return (newer) => {
        for (const [index, block] of arranged(newer).entries()) {
          const target = targets[index];
          if (target !== undefined) patch(target, block, false);
          else if (parts !== undefined) {
            const body = bodyOf(block, parts.kind);
            if (body !== undefined) patchChildren(parts.body, parts.from, [...body.childNodes], false);
          }
        }
      };
    },
    tail: (nodes) => {
      const blocks = arranged(nodes);
      if (open !== undefined) patchChildren(open.body, open.count, continued(blocks, open.count), true);
      patchChildren(root, open === undefined ? top : top + 1, blocks, true);
    },
    pass: () => {
      top++;
    },
    reset: () => {
      top = 0;
      open = undefined;
    },
  };
}

/** The blocks among nodes, without the line ends between them. */
function arranged(nodes: readonly Node[]): Element[] {
  const blocks = nodes.filter((node) => node instanceof Element);
  for (const block of blocks) {
    for (const kind of ['list', 'quote', 'table'] as const) {
      const body = bodyOf(block, kind);
      for (const child of [...(body?.childNodes ?? [])]) if (!(child instanceof Element)) child.remove();
    }
    for (const body of block.querySelectorAll('tbody')) hideRows(body, 0);
  }
  return blocks;
}

/** The element that holds the parts of a container. */
function bodyOf(block: Element | undefined, kind: Container): Element | undefined {
  if (block === undefined) return undefined;
  if (kind === 'list') return block.nodeName === 'UL' || block.nodeName === 'OL' ? block : undefined;
  if (kind === 'quote') return block.nodeName === 'BLOCKQUOTE' ? block : undefined;
  return block.className === 'markdown-table' ? (block.querySelector('tbody') ?? undefined) : undefined;
}

/** Rows beyond the limit are there but not laid out, until the reader wants them. `before` rows stand above these. */
function hideRows(body: Element, before: number): void {
  const columns = body.querySelector('tr')?.childElementCount ?? 1;
  const most = Math.min(limits.tableRows, Math.max(20, Math.floor(limits.tableCells / columns)));
  let index = before;
  for (const row of body.children) row.toggleAttribute('hidden', index++ >= most);
}
