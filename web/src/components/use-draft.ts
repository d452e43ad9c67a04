import { useMemo } from 'preact/hooks';
import { app } from '../state/app.ts';
import { useApp } from '../state/use.ts';

/** What is being written in a form, and what to do with it. */
export interface KeptDraft<Shape> {
  readonly value: Shape;
  readonly set: (next: Shape) => void;
  /** Once it is saved, or given up; with a value, only where nothing else was written meanwhile. */
  readonly forget: (saved?: Shape) => void;
  /** Whether it is other than what it began with. */
  readonly isWritten: boolean;
}

/**
 * What is being written in some form, which begins with `initial`. It is kept under `name` (`prompt/<id>`, `<chat>/<message>`) until
 * it is saved or given up, as drafts of messages are: over a slip that closes the window, over another page and over a reload.
 */
export function useDraft<Shape>(name: string, initial: Shape): KeptDraft<Shape> {
  const kept = useApp((state) => state.drafts[name]?.text || undefined);
  const value = useMemo(() => (kept === undefined ? initial : (JSON.parse(kept) as Shape)), [kept, initial]);
  const forget = (saved?: Shape): void => {
    if (saved !== undefined && app.get().drafts[name]?.text !== JSON.stringify(saved)) return;
    app.dispatch({ type: 'drafts/cleared', chat: name });
  };
  return {
    value,
    set: (next) => {
      const text = JSON.stringify(next);
      // Files may be kept under the same name.
      app.dispatch({ type: 'drafts/text', chat: name, text: text === JSON.stringify(initial) ? '' : text });
    },
    forget,
    isWritten: kept !== undefined,
  };
}
