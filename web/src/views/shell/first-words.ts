/** A page that nobody looks at is never painted: then what was to come later comes after so many milliseconds. */
const LONGEST_WAIT_MS = 5_000;

let painted: Promise<void> | undefined;

/**
 * Resolves once the first words can be seen (W3C Paint Timing, `first-contentful-paint`). What is fetched in advance waits
 * for it: an effect or a frame comes earlier than the picture, by much on a slow machine, and such files would delay it.
 */
export function firstWords(): Promise<void> {
  painted ??= new Promise((resolve) => {
    setTimeout(resolve, LONGEST_WAIT_MS);
    new PerformanceObserver((list) => {
      if (list.getEntriesByName('first-contentful-paint').length > 0) resolve();
    }).observe({ type: 'paint', buffered: true });
  });
  return painted;
}
