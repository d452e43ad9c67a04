import { randomUUID } from 'node:crypto';
import { UsageBatch } from '../../src/core/usage-batch.ts';
import { openStores } from '../../src/stores/index.ts';
import type { Content } from './subject.ts';

/** A process that does nothing but keep things: the stores, asked over the channel to its parent. */

const [dataDir = ''] = process.argv.slice(2);
const quiet = { debug() {}, info() {}, warn: console.error, error: console.error, child: () => quiet };
const { chats, memory, usage, files } = openStores({ dataDir }, quiet);

const work = {
  async putChat(id: string, body: Content) {
    await chats.put({ id, owner: null, updated: body.revision, body: { ...body } });
  },
  async getChat(id: string) {
    return (await chats.get(id))?.body as Content | undefined;
  },
  async addMemory(userId: string, texts: readonly string[]) {
    const rest = { userId, role: 'user', conversationId: null, metadata: {}, createdAt: 0, updatedAt: 0 };
    await memory.add(texts.map((text) => ({ ...rest, id: randomUUID(), text })));
  },
  async memory(user: string, text?: string) {
    const query = { offset: 0, limit: 1_000_000, ...(text === undefined ? {} : { text }) };
    return (await memory.find(user, query)).items.map((item) => item.text);
  },
  async writeFile(bucket: string, name: string, text: string) {
    await files.write(`${bucket}/${name}`, [Buffer.from(text)]);
  },
  async files(bucket: string) {
    const found = new Map<string, string>();
    for await (const { path } of files.list(bucket)) {
      const bytes = Buffer.concat(await Array.fromAsync((await files.open(path))?.body ?? []));
      found.set(path.slice(bucket.length + 1), bytes.toString());
    }
    return found;
  },
  async deleteBucket(bucket: string) {
    await files.delete(bucket);
  },
  async addUsage(user: string) {
    const counts = { promptTokens: 1, completionTokens: 1, totalTokens: 2, savedTokens: 0 };
    const record = { time: 0, user, provider: 'p', model: 'm', ...counts, more: {} };
    await usage.add(UsageBatch.of(record));
  },
  async usage(user: string) {
    const { totals } = await usage.stats({ today: '1970-01-01', days: 1, user });
    const records = await Array.fromAsync(usage.day('1970-01-01'));
    return { records: records.filter((record) => record.user === user).length, summed: totals.requests };
  },
};
/** What the process can be asked for: methods by name, whose arguments and results are cloned on their way. */
export type Work = typeof work;

/** A question to the process, and its answer. */
export interface Asked {
  readonly id: number;
  readonly method: keyof Work;
  readonly words: readonly unknown[];
}
/** Id 0, which no question has, says that the process is ready. */
export type Told = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: string };

process.on('message', async ({ id, method, words }: Asked) => {
  try {
    const value = await (work[method] as (...words: readonly unknown[]) => Promise<unknown>)(...words);
    tell({ id, value });
  } catch (error) {
    tell({ id, error: String(error) });
  }
});
process.on('disconnect', () => process.exit());
await chats.get('first');
tell({ id: 0, value: undefined });

function tell(message: Told): void {
  process.send?.(message);
}
