/** So many of the last messages are shown at once, the earlier ones while there is nothing else to do. */
export const FIRST_BATCH = 24;

/** A message, and how far from the top of what is seen it shall stand. */
export interface Anchor {
  readonly id: string;
  /** Becomes another one where something within the message is gone to. */
  top: number;
}

/** Where somebody read in chats that were left, other than at their ends. */
export const places = new Map<string, Anchor>();

/** Undefined: it is not in there. */
export function messageIn(area: HTMLElement, id: string): HTMLElement | undefined {
  return area.querySelector<HTMLElement>(`[data-message="${CSS.escape(id)}"]`) ?? undefined;
}

/** How far below the top of the area it is, in pixels; above it, negative. */
export function topIn(area: HTMLElement, element: Element): number {
  return element.getBoundingClientRect().top - area.getBoundingClientRect().top;
}

/** The first message that is seen. */
export function placeIn(area: HTMLElement): Anchor | undefined {
  const messages = [...area.querySelectorAll<HTMLElement>('[data-message]')];
  const first = messages.find((element) => topIn(area, element) + element.offsetHeight > 0);
  const id = first?.dataset.message;
  return first === undefined || id === undefined ? undefined : { id, top: topIn(area, first) };
}

/** What is seen first of all that is seen from its beginning, or what reaches from above it to the end. */
export function firstSeen(area: HTMLElement): Element {
  const { top } = area.getBoundingClientRect();
  let found: Element = area;
  do {
    const next = [...found.children].find((child) => child.getBoundingClientRect().bottom > top);
    if (next === undefined) break;
    found = next;
    // Within these nothing changes its height.
  } while (topIn(area, found) < 0 && !found.matches('pre, table'));
  return found;
}

const ACTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/**
 * Keeps a chat that is shown again at its place while its messages are being dressed up, until somebody does something.
 */
export function holdPlace(chat: string, area: HTMLElement, inner: HTMLElement): () => void {
  const place = places.get(chat);
  if (place === undefined) return () => {};
  const read = messageIn(area, place.id);
  // It has to be as high as it is before any of it can be seen.
  if (read !== undefined) read.style.contentVisibility = 'visible';
  const observer = new ResizeObserver(() => {
    // Another one, or none, once something that was found is shown.
    if (read !== undefined && places.get(chat) === place) area.scrollTop += topIn(area, read) - place.top;
  });
  observer.observe(inner);
  // Browsers that keep places themselves would do so once more.
  area.style.overflowAnchor = 'none';
  const end = (): void => {
    observer.disconnect();
    area.style.overflowAnchor = '';
    if (read !== undefined) read.style.contentVisibility = '';
    if (places.get(chat) === place) places.delete(chat);
    for (const act of ACTS) removeEventListener(act, end, true);
  };
  for (const act of ACTS) addEventListener(act, end, true);
  return end;
}
