import type { ComponentChildren } from 'preact';
import type { Snippet } from '../../state/history-text.ts';

/** A text in which the places that were searched for stand out. */
export function Marked({ text, marks }: Snippet) {
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const [from, to] of marks) {
    pieces.push(text.slice(at, from), <mark key={from}>{text.slice(from, to)}</mark>);
    at = to;
  }
  return (
    <>
      {pieces}
      {text.slice(at)}
    </>
  );
}
