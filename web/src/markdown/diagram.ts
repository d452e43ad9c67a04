import type { DiagramWord } from './diagrams/worker.ts';
import type { Tools } from './hosts.ts';

/** A diagram that was asked for. After `destroy` its picture has no address any more, and one that was still to come does not come. */
export interface DiagramView {
  readonly source: string;
  destroy(): void;
}

/** How long one drawing may take, once its worker is there: the way to that may be slow. */
const PATIENCE = 3_000;

/** Whether code in that language of a fence is a diagram, be it one that is drawn here or not. */
export function isDiagram(language: string): boolean {
  return language === 'mermaid';
}

/**
 * Draws a diagram and calls back with it; never, when the source is of a kind that is not drawn here (flow charts and
 * sequence diagrams are), is wrong, or takes too long. The drawing comes as a picture and not as elements: within one,
 * nothing runs and nothing is fetched, and its styles are no business of the page's policy.
 */
export function showDiagram(source: string, tools: Tools, show: (figure: HTMLElement) => void): DiagramView {
  let address: string | undefined;
  let destroyed = false;
  const end = tools.begin();
  draw(source).then((svg) => {
    if (svg !== undefined && !destroyed) {
      address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
      show(figureOf(address, svg, source, tools));
    }
    end();
  });
  return {
    source,
    destroy: () => {
      destroyed = true;
      if (address !== undefined) URL.revokeObjectURL(address);
    },
  };
}

function figureOf(address: string, svg: string, source: string, { words }: Tools): HTMLElement {
  const figure = document.createElement('figure');
  figure.className = 'markdown-diagram markdown-scroll';
  const image = document.createElement('img');
  const [, width = '', height = ''] = /width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
  image.width = Number(width);
  image.height = Number(height);
  image.src = address;
  // Whoever cannot see it reads what it was drawn from.
  image.alt = `${words.diagram}: ${source.slice(0, 1_000)}`;
  figure.append(image);
  return figure;
}

/** A worker for each drawing: they are few, and one that hangs is simply ended. */
function draw(source: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let worker: Worker;
    try {
      worker = new Worker(new URL('./diagrams/worker.ts', import.meta.url), { type: 'module' });
    } catch {
      resolve(undefined);
      return;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const finish = (svg: string | undefined) => {
      clearTimeout(timer);
      worker.terminate();
      resolve(svg);
    };
    worker.onmessage = ({ data }: MessageEvent<DiagramWord>) => {
      if (data === 'there') timer = setTimeout(finish, PATIENCE, undefined);
      else finish(data.svg);
    };
    worker.onerror = () => finish(undefined);
    worker.postMessage({ id: 0, source });
  });
}
