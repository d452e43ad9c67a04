import type { BucketRecord, CacheRecord, ChatRecord, ResponseRecord, Stores } from '../../core/stores.ts';
import { MemoryFiles } from './files.ts';
import { MemoryItems } from './items.ts';
import { MemoryLog } from './log.ts';
import { MemoryRecords } from './records.ts';
import { MemoryUsage } from './usage.ts';

/** Everything in this process's memory: for tests, and for whoever wants nothing kept. Gone when the process ends. */
export function memoryStores(): Stores {
  return {
    chats: new MemoryRecords<ChatRecord>(),
    buckets: new MemoryRecords<BucketRecord>(),
    caches: new MemoryRecords<CacheRecord>((record) => record.expires <= Date.now()),
    responses: new MemoryRecords<ResponseRecord>((record) => record.expires <= Date.now()),
    memory: new MemoryItems(),
    usage: new MemoryUsage(),
    log: new MemoryLog(),
    files: new MemoryFiles(),
    problem: undefined,
    close: async () => {},
  };
}
