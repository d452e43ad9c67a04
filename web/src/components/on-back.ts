/** What Back closes, the newest last. */
const open: (() => void)[] = [];

/**
 * Has the button Back close what lies over the page, instead of leaving what is under it. That is so for steps within the page, of
 * browsers that ask about them; for others, and after a second press, Back does what it always does. Returns the way to end it.
 */
export function onBack(close: () => void): () => void {
  if (open.length === 0) steps?.addEventListener('navigate', stay);
  open.push(close);
  return () => {
    open.splice(open.lastIndexOf(close), 1);
    if (open.length === 0) steps?.removeEventListener('navigate', stay);
  };
}

const steps = 'navigation' in globalThis ? navigation : undefined;

function stay(event: NavigateEvent): void {
  const at = steps?.currentEntry?.index ?? 0;
  if (event.navigationType !== 'traverse' || !event.cancelable || event.destination.index >= at) return;
  event.preventDefault();
  open.at(-1)?.();
}
