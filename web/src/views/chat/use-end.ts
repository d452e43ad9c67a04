import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Nearer to the end than this, in pixels, counts as being there. */
const AT_END = 48;

/**
 * Keeps an area that scrolls at its end while one is there, and leaves those alone who went up to read. `leaf` is what the
 * area ends with: another one is shown at once.
 */
export function useEnd(leaf: string | undefined) {
  const scroll = useRef<HTMLElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [isAway, setAway] = useState(false);
  const follow = useRef(true);
  const lastTop = useRef(0);
  const toEnd = (): void => {
    follow.current = true;
    scroll.current?.scrollTo({ top: scroll.current.scrollHeight, behavior: 'instant' });
  };
  useLayoutEffect(toEnd, [leaf]);
  useEffect(() => {
    const area = scroll.current;
    if (area === null || inner.current === null) return;
    const observer = new ResizeObserver(() => {
      if (follow.current) area.scrollTop = area.scrollHeight;
    });
    observer.observe(inner.current);
    observer.observe(area);
    return () => observer.disconnect();
  }, []);
  const onScroll = (): void => {
    const area = scroll.current;
    if (area === null) return;
    const isAtEnd = area.scrollHeight - area.scrollTop - area.clientHeight < AT_END;
    // More text, or less room for it, takes nobody away from the end: only going up does.
    follow.current = isAtEnd || (follow.current && area.scrollTop >= lastTop.current);
    lastTop.current = area.scrollTop;
    setAway(!follow.current);
  };
  return { scroll, inner, onScroll, isAway, toEnd };
}
