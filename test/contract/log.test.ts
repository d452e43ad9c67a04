import { logContract } from './log.ts';
import { port, WORLDS } from './worlds.ts';

for (const [name, open] of WORLDS)
  logContract(
    name,
    port(open, (stores) => stores.log),
  );
