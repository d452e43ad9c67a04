import type { Env } from 'markdown-it';

type Known = NonNullable<Env['references']>;

/** The definitions of links (`[label]: address`), of which the first counts, wherever it stands. */
export interface References {
  /** What to parse with: while streaming, what is defined is forgotten again. `missing` fills with labels not found. */
  surroundings(streaming: boolean): { env: Env; missing: Set<string> };
  /** Keeps how to render again what was not found; `again` returns what is missing still. */
  remember(missing: ReadonlySet<string>, again: () => ReadonlySet<string>): void;
  /** Renders again, until `deadline` (of `performance.now`), what waits for a definition that has come. True when nothing is left. */
  settle(deadline: number): boolean;
  reset(): void;
}

interface Waiting {
  missing: ReadonlySet<string>;
  readonly again: () => ReadonlySet<string>;
}

/** For one text, or after `reset` for another one. */
export function createReferences(): References {
  let known: Known = Object.create(null);
  let waiting: Waiting[] = [];
  const fresh = new Set<string>();
  const due = new Set<Waiting>();

  return {
    surroundings: (streaming) => {
      const missing = new Set<string>();
      const target: Known = streaming ? Object.create(known) : known;
      const references = new Proxy(target, {
        get: (all, label) => {
          if (typeof label !== 'string') return undefined;
          const found = all[label];
          if (found === undefined) missing.add(label);
          return found;
        },
        set: (all, label, value) => {
          if (typeof label !== 'string') return false;
          all[label] = value;
          missing.delete(label);
          if (!streaming) fresh.add(label);
          return true;
        },
      });
      return { env: { references, streaming }, missing };
    },
    remember: (missing, again) => {
      if (missing.size > 0) waiting.push({ missing, again });
    },
    settle: (deadline) => {
      if (fresh.size === 0 && due.size === 0) return true;
      const labels = [...fresh];
      fresh.clear();
      for (const each of waiting) if (labels.some((label) => each.missing.has(label))) due.add(each);
      for (const each of due) {
        due.delete(each);
        each.missing = each.again();
        if (performance.now() > deadline) break;
      }
      if (due.size > 0) return false;
      waiting = waiting.filter((each) => each.missing.size > 0);
      return true;
    },
    reset: () => {
      known = Object.create(null);
      waiting = [];
      fresh.clear();
      due.clear();
    },
  };
}
