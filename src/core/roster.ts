/** Whatever stands in a `Roster`; it notes its own place there. */
export interface Rostered {
  /** Index in the roster; -1 outside. Only the roster changes it. */
  place: number;
}

/**
 * Things that come and go by the thousand a second, in no order.
 *
 * A `Set` would do the same and cost more than its own work: V8 gives it a new table every few dozen changes, and the old
 * table goes on pointing at the new one and at everything that it ever held. As soon as one of them is old enough to be left
 * to the major collector, all later ones outlive the minor one, and with them whatever requests have left behind.
 */
export class Roster<T extends Rostered> {
  readonly #all: T[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(item: T): void {
    item.place = this.#all.length;
    this.#all.push(item);
  }

  /** Returns whether it was there. */
  remove(item: T): boolean {
    const { place } = item;
    if (place === -1 || this.#all[place] !== item) return false;
    const last = this.#all.pop();
    if (last !== undefined && last !== item) {
      this.#all[place] = last;
      last.place = place;
    }
    item.place = -1;
    return true;
  }

  /** Calls `visit` for all that stand there, none left out. It may add and remove; what it adds may wait for the next time. */
  each(visit: (item: T) => void): void {
    for (let at = this.#all.length - 1; at >= 0; at -= 1) {
      const item = this.#all[at];
      if (item !== undefined) visit(item);
    }
  }
}
