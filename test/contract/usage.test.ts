import { usageContract } from './usage.ts';
import { port, WORLDS } from './worlds.ts';

for (const [name, open] of WORLDS)
  usageContract(
    name,
    port(open, (stores) => stores.usage),
  );
