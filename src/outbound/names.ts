import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { boundedCache } from '../core/bounded-cache.ts';

/** How long the system may take to find the addresses of a name before those of the last time do, in milliseconds. */
const PATIENCE_MS = 2_000;
/** Names that are remembered: answers of some vendors lead to further ones. */
const MOST_NAMES = 1_000;

type Addresses = readonly LookupAddress[];
type Done = (error: Error | null, found: Addresses) => void;

/**
 * The addresses of upstreams. The system is asked for each connection anew, since names move, but once at a time for each name: it has
 * two threads for such questions, and one provider whose name servers say nothing would keep all others from being reached. While they
 * say nothing of a name that was known before, its last addresses are used.
 */
export class Names {
  readonly #known = boundedCache<string, Addresses>(MOST_NAMES);
  readonly #waiting = new Map<string, Set<Done>>();

  /** For `connect` of node:net and node:tls. */
  readonly lookup: LookupFunction = (name, { all }, done) => {
    this.#find(name, (error, found) => {
      const [first] = found;
      if (error !== null || first === undefined) done(error, '');
      else if (all === true) done(null, [...found]);
      else done(null, first.address, first.family);
    });
  };

  #find(name: string, done: Done): void {
    const waiting = this.#waiting.get(name) ?? this.#ask(name);
    const known = this.#known.get(name);
    if (known === undefined) {
      waiting.add(done);
      return;
    }
    const timer = setTimeout(() => {
      if (waiting.delete(answer)) done(null, known);
    }, PATIENCE_MS);
    const answer: Done = (error, found) => {
      clearTimeout(timer);
      // That nobody could tell, which is another thing than that there is no such name.
      if (error !== null && 'code' in error && error.code === 'EAI_AGAIN') done(null, known);
      else done(error, found);
    };
    waiting.add(answer);
  }

  #ask(name: string): Set<Done> {
    const waiting = new Set<Done>();
    this.#waiting.set(name, waiting);
    lookup(name, { all: true }, (error, found = []) => {
      this.#waiting.delete(name);
      if (error === null && found.length > 0) this.#known.set(name, found);
      for (const done of waiting) done(error, found);
    });
    return waiting;
  }
}
