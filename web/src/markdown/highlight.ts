/** Text and the class it is shown with; the class is empty for plain text. */
export type Run = readonly [text: string, className: string];

/** What a worker is asked. `language`: as the fence names it. */
export interface HighlightQuestion {
  readonly id: number;
  readonly code: string;
  readonly language: string;
}

interface HighlightAnswer {
  readonly id: number;
  /** Line by line; empty when the language is not known. */
  readonly lines: readonly (readonly Run[])[];
}

/** What a worker says: first that it has been fetched and reads, then its answers. */
export type HighlightWord = 'there' | HighlightAnswer;

/** How long one text may take. Then its worker is ended, and the text stays plain. */
const PATIENCE = 4_000;

interface Waiting {
  readonly question: HighlightQuestion;
  readonly answer: (lines: HighlightAnswer['lines'] | undefined) => void;
}

let worker: Worker | undefined;
let isThere = false;
let count = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
/** One question at a time is with the worker, so that patience is measured from its begin. */
const queue: Waiting[] = [];

/** The code in coloured runs; empty when there is nothing to colour, undefined when that took too long. */
export function highlight(code: string, language: string): Promise<HighlightAnswer['lines'] | undefined> {
  return new Promise((answer) => {
    queue.push({ question: { id: ++count, code, language }, answer });
    if (queue.length === 1) ask();
  });
}

function ask(): void {
  const first = queue[0];
  if (first === undefined) return;
  worker ??= startWorker();
  if (worker === undefined) {
    settle([]);
    return;
  }
  worker.postMessage(first.question);
  if (isThere) limit();
}

/** Not before the worker is there: how long the way to it takes says nothing about the text. */
function limit(): void {
  timer = setTimeout(() => {
    end();
    settle(undefined);
  }, PATIENCE);
}

function end(): void {
  worker?.terminate();
  worker = undefined;
  isThere = false;
}

function settle(lines: HighlightAnswer['lines'] | undefined): void {
  clearTimeout(timer);
  queue.shift()?.answer(lines);
  ask();
}

function startWorker(): Worker | undefined {
  try {
    const started = new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' });
    started.onmessage = ({ data }: MessageEvent<HighlightWord>) => {
      if (data === 'there') {
        isThere = true;
        limit();
      } else if (data.id === queue[0]?.question.id) settle(data.lines);
    };
    started.onerror = () => {
      // One that could not be fetched answers nothing any more; the next may be.
      if (!isThere) end();
      settle([]);
    };
    return started;
  } catch {
    return undefined;
  }
}
