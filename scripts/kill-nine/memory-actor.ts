import { randomInt } from 'node:crypto';
import { digestOf, randomFiller } from './content.ts';
import type { Actor, Finding, Remembering } from './subject.ts';

/**
 * One user's memory; each call adds a few items, which are there together or not at all. `longest`: characters that one
 * may have.
 */
export function memoryActor(user: string, longest?: number): Actor<Remembering> {
  const promised = new Set<string>();
  let tried: readonly string[] = [];
  let acknowledged = 0;
  let last = 0;
  return {
    kind: 'memory',
    get acknowledged() {
      return acknowledged;
    },
    async write(running) {
      tried = Array.from({ length: 1 + randomInt(3) }, () => {
        last += 1;
        const text = `word${user}x${last} ${randomFiller(longest)}`;
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
