import { useLayoutEffect, useState } from 'preact/hooks';

/** Whether a media query fits, also when that changes. */
export function useMedia(query: string): boolean {
  const [fits, setFits] = useState(() => matchMedia(query).matches);
  useLayoutEffect(() => {
    const media = matchMedia(query);
    const take = (): void => setFits(media.matches);
    media.addEventListener('change', take);
    return () => media.removeEventListener('change', take);
  }, [query]);
  return fits;
}
