/** Draws diagrams away from the page's thread. */
import { flowChart } from './flow.ts';
import { sequenceDiagram } from './sequence.ts';

export interface DiagramQuestion {
  readonly id: number;
  readonly source: string;
}

export interface DiagramAnswer {
  readonly id: number;
  /** The drawing; missing when the source is of a kind that is not known here. */
  readonly svg?: string;
}

interface Scope {
  onmessage: ((event: { readonly data: DiagramQuestion }) => void) | null;
  postMessage(answer: DiagramAnswer): void;
}

const scope = globalThis as unknown as Scope;

scope.onmessage = ({ data: { id, source } }) => {
  try {
    const trimmed = source.trim();
    scope.postMessage({
      id,
      svg: trimmed.startsWith('sequenceDiagram') ? sequenceDiagram(trimmed) : flowChart(trimmed),
    });
  } catch {
    scope.postMessage({ id });
  }
};
