import { LRUCache } from 'lru-cache';

/**
 * Keeps `most` entries, those that were used last. They are counted as sizes of one: told a number of entries (`max`),
 * lru-cache sets room for all of them aside at once, which is 1 MB for 50,000.
 */
export function boundedCache<K extends {}, V extends {}>(most: number): LRUCache<K, V> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}
