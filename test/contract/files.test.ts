import { filesContract } from './files.ts';
import { port, WORLDS } from './worlds.ts';

for (const [name, open] of WORLDS)
  filesContract(
    name,
    port(open, (stores) => stores.files),
  );
