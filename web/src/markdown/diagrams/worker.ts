/** Draws diagrams away from the page's thread. */
import { flowChart } from './flow.ts';
import { sequenceDiagram } from './sequence.ts';

interface DiagramQuestion {
  readonly id: number;
  readonly source: string;
}

interface DiagramAnswer {
  readonly id: number;
  /** The drawing; missing when the source is of a kind that is not known here. */
  readonly svg?: string;
}

/** What a worker says: first that it has been fetched and reads, then its answer. */
export type DiagramWord = 'there' | DiagramAnswer;

interface Scope {
  onmessage: ((event: { readonly data: DiagramQuestion }) => void) | null;
  postMessage(word: DiagramWord): void;
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

scope.postMessage('there');
