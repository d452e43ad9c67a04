import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isAskedHere } from '../../actions/asked-here.ts';
import { firstSeen, topIn } from './places.ts';

/** Nearer to the end than this, in pixels, counts as being there. */
export const AT_END = 48;

/** By what one sees that somebody scrolls, rather than that the area moves because of what is in it. */
const BY_HAND = ['wheel', 'touchmove', 'keydown'] as const;

/** Scrolls to where a new leaf shall be seen, if that is not the end. Returns whether it did. */
export type Place = (area: HTMLElement, room: HTMLElement, followsEnd: boolean) => boolean;

/**
 * Keeps an area that scrolls at its end while one is there, and leaves those alone who went up to read. `leaf` is what the
 * area ends with: another one is shown at once, at its end or where `place` puts it, unless it came from another tab while somebody
 * reads above. `isRead`: somebody does so from the start. `onShift` is for what moves by so many pixels without anybody having scrolled.
 */
export function useEnd(leaf: string | undefined, place?: Place, isRead = false) {
  const scroll = useRef<HTMLElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [isAway, setAway] = useState(false);
  const follow = useRef(!isRead);
  const lastTop = useRef(0);
  /** From where it goes up, if it does. */
  const upFrom = useRef(0);
  const isShown = useRef(false);
  const isByHand = useRef(false);
  const read = useRef<Read | undefined>(undefined);
  /** Where this puts it is no way up of somebody's, though what came before was higher: by the time that is told there may be more below. */
  const keepAtEnd = (area: HTMLElement): void => {
    area.scrollTo({ top: area.scrollHeight, behavior: 'instant' });
    lastTop.current = area.scrollTop;
    upFrom.current = area.scrollTop;
  };
  const toEnd = (): void => {
    follow.current = true;
    if (scroll.current !== null) keepAtEnd(scroll.current);
  };
  const noteRead = (area: HTMLElement): void => {
    if (CSS.supports('overflow-anchor', 'auto')) return;
    // At the very top one sees what comes there, as other browsers do it.
    const element = follow.current || area.scrollTop <= 0 ? undefined : firstSeen(area);
    read.current = element && { element, at: area.scrollTop + topIn(area, element) };
  };
  /** Takes what is read back to its place where the browser does not: in Safari. A place that is held (`holdPlace`) is looked at after this. */
  const keepRead = (area: HTMLElement): void => {
    // It may have been exchanged for something else, or folded away.
    if (!follow.current && read.current !== undefined && read.current.element.getClientRects().length > 0) {
      const { element, at } = read.current;
      const shift = area.scrollTop + topIn(area, element) - at;
      if (Math.abs(shift) >= 1) area.scrollTop += shift;
    }
    noteRead(area);
  };
  useLayoutEffect(() => {
    const [area, room] = [scroll.current, inner.current];
    if (area === null || room === null) return;
    const stays = isShown.current && !follow.current && !isAskedHere(leaf);
    isShown.current = true;
    if (place?.(area, room, follow.current) === true) {
      follow.current = isAtEnd(area);
      noteRead(area);
    } else if (!stays) toEnd();
  }, [leaf]);
  // From the first layout on: messages may have another height there than they were put with, and less of it takes the area up.
  useLayoutEffect(() => {
    const area = scroll.current;
    if (area === null || inner.current === null) return;
    const observer = new ResizeObserver(() => {
      if (follow.current) keepAtEnd(area);
      else keepRead(area);
      // Nobody is told of a scroll where the end comes into sight without one.
      setAway(!follow.current && leftIn(area) >= 1);
    });
    observer.observe(inner.current);
    observer.observe(area);
    const onHand = (event: Event): void => {
      // A touchpad rolls on at the end, and nobody goes up by that.
      if (!(event instanceof WheelEvent && event.deltaY > 0)) isByHand.current = true;
      if (event instanceof KeyboardEvent && event.target === area && !event.shiftKey) jump(event.key, area);
    };
    // At once: the way there leads past messages that become higher as they come near, and the browser would end somewhere among them.
    const jump = (key: string, area: HTMLElement): void => {
      if (key === 'Home') area.scrollTo({ top: 0, behavior: 'instant' });
      if (key !== 'End') return;
      isByHand.current = false;
      toEnd();
    };
    for (const act of BY_HAND) area.addEventListener(act, onHand, { passive: true });
    return () => {
      observer.disconnect();
      for (const act of BY_HAND) area.removeEventListener(act, onHand);
    };
  }, []);
  const onScroll = (): void => {
    const area = scroll.current;
    if (area === null) return;
    // More text, or less room for it, takes nobody away from the end: only going up does, by hand however slowly.
    if (area.scrollTop >= lastTop.current) follow.current ||= isAtEnd(area);
    else if (isByHand.current) follow.current = leftIn(area) < 1;
    // A little, since what is in it became lower; there may be much more below already.
    else follow.current = isAtEnd(area) || (follow.current && upFrom.current - area.scrollTop < AT_END);
    if (area.scrollTop > lastTop.current) {
      isByHand.current = false;
      upFrom.current = area.scrollTop;
    }
    keepRead(area);
    lastTop.current = area.scrollTop;
    setAway(!follow.current);
  };
  const onShift = (shift: number): void => {
    const area = scroll.current;
    if (area === null) return;
    if (follow.current) keepAtEnd(area);
    else if (shift !== 0) {
      area.scrollTop += shift;
      noteRead(area);
    }
  };
  return { scroll, inner, onScroll, onShift, isAway, toEnd };
}

/** Something that is read, and how far from the top of all that scrolls it stands. */
interface Read {
  readonly element: Element;
  readonly at: number;
}

/** Whether less than `AT_END` is left to scroll. */
export function isAtEnd(area: HTMLElement): boolean {
  return leftIn(area) < AT_END;
}

function leftIn(area: HTMLElement): number {
  return area.scrollHeight - area.scrollTop - area.clientHeight;
}
