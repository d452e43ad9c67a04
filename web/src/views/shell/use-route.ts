import { useLayoutEffect, useState } from 'preact/hooks';
import { parseRoute, type Route } from '../../state/route.ts';

/** Where the address leads. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  // Before the page is painted: an address that changes between the first look and the listener would be lost.
  useLayoutEffect(() => {
    const take = (): void => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, []);
  return route;
}
