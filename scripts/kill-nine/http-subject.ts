import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { DataFolder } from './data-folder.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { conversationActor, numberedActor, sharedChatActor } from './http-actors.ts';
import { type Asking, askingAt } from './http-client.ts';
import { memoryActor } from './memory-actor.ts';
import type { RunningGateway } from './running-gateway.ts';
import type { Content, Finding, Inspection, Subject } from './subject.ts';
import { uploadActor } from './upload-actor.ts';

/** Characters of the longest statement: the contract allows 100,000, and the search index would grow with it. */
const LONGEST_STATEMENT = 20_000;
/** Stray files that are asked for after each restart. */
const ASKED_STRAYS = 4;

/** The whole gateway: the `sluice` command in a process of its own, asked over HTTP. */
export function httpSubject(folder: string): Subject<RunningGateway> {
  mkdirSync(folder, { recursive: true });
  const data = new DataFolder(path.join(folder, 'data'));
  const firstDay = Date.now();
  return {
    longestLifeMs: 2_500,
    longestRestMs: 20,
    async start() {
      const started = performance.now();
      const gateway = await startGatewayProcess(folder);
      const asking = askingAt(gateway.origin, firstDay);
      try {
        await asking.getChat('none', undefined);
      } catch (error) {
        await gateway.kill();
        throw error;
      }
      return { ...asking, readyMs: performance.now() - started, kill: gateway.kill };
    },
    actors: (id) => [
      sharedChatActor(id),
      memoryActor(id, LONGEST_STATEMENT),
      uploadActor(`b${id}`),
      numberedActor(id, {
        name: 'usage',
        add: (running, record) => running.addUsage(id, record),
        read: (running) => running.usage(id),
      }),
      numberedActor(id, {
        name: 'log',
        add: (running, record) => running.addLog(id, record),
        // No endpoint reads what clients logged.
        read: async () => {
          const { bodies, isFull } = data.log(id);
          return { records: bodies.map((body) => body['record'] as Content), isFull };
        },
      }),
      conversationActor(id),
    ],
    leftovers() {
      const temporary = path.join(folder, 'tmp');
      return [...data.temporary(), ...(existsSync(temporary) ? readdirSync(temporary) : [])];
    },
    inspect: (running) => inspect(running, data),
  };
}

async function inspect(running: Asking, data: DataFolder): Promise<Inspection> {
  const findings: Finding[] = data.damage().map((what) => ({ kind: 'torn', what: `database: ${what}` }));
  const strays = data.strays();
  for (const stray of strays.slice(-ASKED_STRAYS)) {
    const [, bucket = ''] = stray.split('/');
    const name = path.posix.basename(stray);
    for (const address of [
      `/files/${bucket}/media/${name}`,
      `/files/${bucket}/thumbnail/${name}`,
      `/media/${name}`,
      `/images/${name}`,
      `/media/${stray}`,
      `/thumbnail/${name}`,
    ]) {
      const status = await running.statusOf(address);
      if (status < 400) findings.push({ kind: 'torn', what: `the stray file ${stray} is served by ${address}` });
    }
  }
  return { findings, strays: strays.length };
}
