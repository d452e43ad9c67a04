let seen: Promise<void> | undefined;

/**
 * Resolves once the first words can be seen (W3C Paint Timing, `first-contentful-paint`). What is fetched in advance waits
 * for it: an effect or a frame comes earlier than the picture, by much on a slow machine, and such files would delay it. Nothing
 * is delayed where nobody looks, and such a page is never painted; nor where somebody uses it already, for browsers that keep
 * the times of their pictures to themselves (Firefox with `privacy.resistFingerprinting`).
 */
export function firstWords(): Promise<void> {
  seen ??= new Promise((resolve) => {
    const look = (): void => {
      if (document.visibilityState === 'hidden') resolve();
    };
    look();
    document.addEventListener('visibilitychange', look, { once: true });
    for (const use of ['pointerdown', 'keydown']) addEventListener(use, () => resolve(), { once: true, capture: true });
    new PerformanceObserver((list) => {
      if (list.getEntriesByName('first-contentful-paint').length > 0) resolve();
    }).observe({ type: 'paint', buffered: true });
  });
  return seen;
}
