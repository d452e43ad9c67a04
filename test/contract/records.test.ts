import { expiringContract, recordsContract } from './records.ts';
import { port, WORLDS } from './worlds.ts';

for (const [name, open] of WORLDS) {
  recordsContract(
    name,
    port(open, (stores) => stores.chats),
  );
  expiringContract(
    name,
    port(open, (stores) => stores.caches),
  );
}
