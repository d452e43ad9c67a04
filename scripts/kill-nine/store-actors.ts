import { randomInt } from 'node:crypto';
import { digestOf, isWhole, makeContent, randomFiller } from './content.ts';
import type { RunningStores } from './running-stores.ts';
import type { Actor, Finding } from './subject.ts';

/** One shared chat that is written again and again. */
export function chatActor(id: string): Actor<RunningStores> {
  let promised = 0;
  let tried = 0;
  return {
    kind: 'chats',
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

/** One bucket: new files, one that is replaced again and again, and now and then all of it deleted. */
export function bucketActor(bucket: string): Actor<RunningStores> {
  let promised: ReadonlyMap<string, string> = new Map();
  let tried: ReadonlyMap<string, string> = promised;
  let acknowledged = 0;
  return {
    kind: 'files',
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
export function usageActor(user: string): Actor<RunningStores> {
  let promised = 0;
  let tried = 0;
  return {
    kind: 'usage',
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
