import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Only its text; or still that, while the rest is made ready out of sight; or all of it. */
export type Dress = 'plain' | 'dressing' | 'dressed';

/**
 * How far a message is dressed up: at once where `isNear`, else when it comes near the screen. Then its height is another one:
 * `onDressed` is told by how much what a reader sees of the area goes down thereby.
 */
export function useDress(
  node: RefObject<HTMLElement | null>,
  isNear: boolean,
  onDressed: (shift: number) => void,
): Dress {
  const [dress, setDress] = useState<Dress>(isNear ? 'dressed' : 'plain');
  const before = useRef<Extent | undefined>(undefined);
  useEffect(() => {
    if (dress !== 'plain' || node.current === null) return;
    return whenNear(node.current, () => setDress('dressing'));
  }, [dress]);
  useLayoutEffect(() => {
    const element = node.current;
    if (dress !== 'dressing' || element === null) return;
    return whenRendered(element, () => {
      before.current = element.getBoundingClientRect();
      setDress('dressed');
    });
  }, [dress]);
  useLayoutEffect(() => {
    const [element, was] = [node.current, before.current];
    const area = element?.closest('.thread-scroll');
    if (dress !== 'dressed' || was === undefined || !element || !area) return;
    before.current = undefined;
    onDressed(shiftOf(was, element.getBoundingClientRect(), area.getBoundingClientRect()));
  }, [dress]);
  return dress;
}

const waiting = new WeakMap<Element, () => void>();
let observer: IntersectionObserver | undefined;

/** Calls `run` once when `element` comes near the screen. Returns the way to end it. */
function whenNear(element: Element, run: () => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) waiting.get(target)?.();
    },
    // The one is for the window, the other for what scrolls within it, where the first says nothing.
    { rootMargin: NEAR, scrollMargin: NEAR },
  );
  waiting.set(element, run);
  observer.observe(element);
  return () => {
    waiting.delete(element);
    observer?.unobserve(element);
  };
}

const NEAR = '1200px 0px';

/** Calls `run` once all the markdown in `element` is there: at once, if it is. Returns the way to end it. */
function whenRendered(element: Element, run: () => void): () => void {
  const end = (): void => changes.disconnect();
  const look = (): void => {
    if (element.querySelector('.markdown[aria-busy="true"]') !== null) return;
    end();
    run();
  };
  const changes = new MutationObserver(look);
  changes.observe(element, { attributeFilter: ['aria-busy'], subtree: true });
  look();
  return end;
}

/** Where something begins and ends, in pixels from the top of the window. */
interface Extent {
  readonly top: number;
  readonly bottom: number;
}

/**
 * How far an area has to be scrolled down when a message in it, which was `before`, is as high as `after`, for its reader to see the same
 * as before: the end of the message and what comes below, or, in the middle of it, about the same of it. Browsers that keep places do so
 * by what is in the message, and that is exchanged.
 */
function shiftOf(before: Extent, after: Extent, area: Extent): number {
  if (before.top >= area.top) return 0;
  if (before.bottom <= area.bottom) return after.bottom - before.bottom;
  const middle = (area.top + area.bottom) / 2;
  const part = (middle - before.top) / (before.bottom - before.top);
  return after.top + part * (after.bottom - after.top) - middle;
}
