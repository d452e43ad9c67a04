import { memoryContract } from './memory.ts';
import { port, WORLDS } from './worlds.ts';

for (const [name, open] of WORLDS)
  memoryContract(
    name,
    port(open, (stores) => stores.memory),
  );
