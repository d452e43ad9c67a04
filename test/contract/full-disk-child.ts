import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { membersOf } from '../../src/core/objects.ts';
import type { Stores } from '../../src/core/stores.ts';
import { openStores } from '../../src/stores/index.ts';
import { testLogger } from '../support/call.ts';

/** Writes where there is little room until nothing goes any more, and tells on stdout what it was promised. */

export interface Told {
  readonly chats: readonly string[];
  readonly files: readonly string[];
  /** Codes of the failures, and what `problem` said. */
  readonly chatFailure: string;
  readonly fileFailure: string;
  readonly problem: string;
  /** Names in the temporary folder afterwards. */
  readonly leftovers: readonly string[];
  /** Whether everything promised could be read while there was no room. */
  readonly readable: boolean;
  /** Whether it was known that there is room again before anything was written, and writing worked. */
  readonly recovered: boolean;
}

const MOST_TRIES = 200;
const FILLER = 'x'.repeat(100_000);

const [folder = '', ballast] = process.argv.slice(2);
if (ballast !== undefined) writeFileSync(ballast, Buffer.alloc(1_500_000));
const stores = openStores({ dataDir: folder }, testLogger());
const chats: string[] = [];
const files: string[] = [];
const fileFailure = await untilFailure(async (n) => {
  await stores.files.write(
    `bucket/${n}`,
    Array.from({ length: n + 1 }, () => Buffer.from(FILLER)),
  );
  files.push(`bucket/${n}`);
});
const chatFailure = await untilFailure(async (n) => {
  await stores.chats.put({ id: `${n}`, owner: null, updated: n, body: { filler: FILLER } });
  chats.push(`${n}`);
});
const problem = stores.problem ?? 'none';
const leftovers = readdirSync(path.join(folder, 'files', '.tmp'));
const readable = await isReadable(stores);
if (ballast !== undefined) rmSync(ballast);
const recovered = ballast !== undefined && (await isWritable(stores));
await stores.close();
const told: Told = { chats, files, chatFailure, fileFailure, problem, leftovers, readable, recovered };
console.log(JSON.stringify(told));

async function untilFailure(work: (n: number) => Promise<void>): Promise<string> {
  for (let n = 0; n < MOST_TRIES; n += 1) {
    try {
      await work(n);
    } catch (error) {
      return String((error as { code?: unknown }).code);
    }
  }
  return 'none';
}

async function isReadable({ chats: records, files: bytes }: Stores): Promise<boolean> {
  for (const id of chats) if (membersOf((await records.get(id))?.body)['filler'] !== FILLER) return false;
  for (const [n, name] of files.entries()) if ((await bytes.stat(name))?.size !== (n + 1) * FILLER.length) return false;
  return true;
}

async function isWritable(all: Stores): Promise<boolean> {
  const { chats: records, files: bytes } = all;
  await all.recover();
  await records.get('after');
  if (all.problem !== undefined) return false;
  await records.put({ id: 'after', owner: null, updated: 0, body: {} });
  await bytes.write('bucket/after', [Buffer.from('x')]);
  return (await records.get('after')) !== undefined && all.problem === undefined;
}
