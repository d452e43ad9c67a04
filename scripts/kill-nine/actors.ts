import { randomInt } from 'node:crypto';
import { digestOf, isWhole, makeContent, randomFiller } from './content.ts';
import type { Running } from './subject.ts';

/**
 * Each actor writes one thing after the other and notes what was acknowledged. When the process dies, one write of each
 * may be under way: it may have happened, or not, but nothing in between.
 */
export interface Actor {
  /** Writes until the process dies (then this rejects). */
  write(running: Running): Promise<void>;
  /** Compares what is there with what was promised, and takes it for the state from now on. */
  verify(running: Running): Promise<readonly Finding[]>;
  /** Writes that were acknowledged so far. */
  readonly acknowledged: number;
}

/** `lost`: promised, but not there (or deleted, and back again). `torn`: there, but not whole. */
export interface Finding {
  readonly kind: 'lost' | 'torn';
  readonly what: string;
}

/** One shared chat that is written again and again. */
export function chatActor(id: string): Actor {
  let promised = 0;
  let tried = 0;
  return {
    get acknowledged() {
      return promised;
    },
    async write(running) {
      tried = promised + 1;
      await running.putChat(id, makeContent(tried));
      promised = tried;
    },
    async verify(running) {
      const found = await running.getChat(id);
      const revision = found?.revision ?? 0;
      if (found !== undefined && !isWhole(found)) return [{ kind: 'torn', what: `chat ${id}` }];
      if (revision !== promised && revision !== tried) {
        return [{ kind: 'lost', what: `chat ${id}: promised ${promised}, tried ${tried}, found ${revision}` }];
      }
      promised = revision;
      return [];
    },
  };
}

/** One user's memory; each call adds a few items, which are there together or not at all. */
export function memoryActor(user: string): Actor {
  const promised = new Set<string>();
  let tried: readonly string[] = [];
  let acknowledged = 0;
  let last = 0;
  return {
    get acknowledged() {
      return acknowledged;
    },
    async write(running) {
      tried = Array.from({ length: 1 + randomInt(3) }, () => {
        last += 1;
        const text = `word${user}x${last} ${randomFiller()}`;
        return `${text} ${digestOf(text)}`;
      });
      await running.addMemory(user, tried);
      for (const text of tried) promised.add(text);
      tried = [];
      acknowledged += 1;
    },
    async verify(running) {
      const found = new Set(await running.memory(user));
      const findings: Finding[] = [];
      for (const text of promised) if (!found.has(text)) findings.push({ kind: 'lost', what: `memory ${begin(text)}` });
      const arrived = tried.filter((text) => found.has(text));
      if (arrived.length > 0 && arrived.length < tried.length)
        findings.push({ kind: 'torn', what: `batch of ${user}` });
      for (const text of found) {
        if (!promised.has(text) && !tried.includes(text))
          findings.push({ kind: 'torn', what: `memory ${begin(text)}` });
      }
      // The index knows each item exactly once too.
      const sample = [...found][found.size === 0 ? 0 : randomInt(found.size)];
      if (sample !== undefined) {
        const hits = await running.memory(user, begin(sample));
        if (!hits.includes(sample)) findings.push({ kind: 'lost', what: `index entry ${begin(sample)}` });
      }
      for (const text of arrived) promised.add(text);
      tried = [];
      return findings;
    },
  };
}

const begin = (text: string) => text.split(' ', 1)[0] ?? '';

/** One bucket: new files, one that is replaced again and again, and now and then all of it deleted. */
export function bucketActor(bucket: string): Actor {
  let promised: ReadonlyMap<string, string> = new Map();
  let tried: ReadonlyMap<string, string> = promised;
  let acknowledged = 0;
  return {
    get acknowledged() {
      return acknowledged;
    },
    async write(running) {
      const choice = randomInt(12);
      if (choice === 0) {
        tried = new Map();
        await running.deleteBucket(bucket);
      } else {
        const text = `${randomInt(2 ** 40)} ${randomFiller()}`;
        const name = choice < 4 ? 'current.txt' : `${digestOf(text).slice(0, 32)}.txt`;
        tried = new Map([...promised, [name, digestOf(text)]]);
        await running.writeFile(bucket, name, text);
      }
      promised = tried;
      acknowledged += 1;
    },
    async verify(running) {
      const found = new Map([...(await running.files(bucket))].map(([name, text]) => [name, digestOf(text)]));
      const findings = [...found].flatMap(([name, digest]): readonly Finding[] =>
        promised.get(name) === digest || tried.get(name) === digest
          ? []
          : [{ kind: 'torn', what: `${bucket}/${name}` }],
      );
      if (!isSame(found, promised) && !isSame(found, tried)) {
        findings.push({ kind: 'lost', what: `bucket ${bucket}: ${promised.size} promised, ${found.size} found` });
      }
      promised = found;
      tried = found;
      return findings;
    },
  };
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([name, digest]) => other.get(name) === digest);
}

/** One user's usage: records and their sums never differ. */
export function usageActor(user: string): Actor {
  let promised = 0;
  let tried = 0;
  return {
    get acknowledged() {
      return promised;
    },
    async write(running) {
      tried = promised + 1;
      await running.addUsage(user);
      promised = tried;
    },
    async verify(running) {
      const { records, summed } = await running.usage(user);
      if (records !== summed) return [{ kind: 'torn', what: `usage of ${user}: ${records} records, sum ${summed}` }];
      if (records !== promised && records !== tried) {
        return [{ kind: 'lost', what: `usage of ${user}: promised ${promised}, found ${records}` }];
      }
      promised = records;
      return [];
    },
  };
}
