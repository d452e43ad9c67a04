import { uploadsContract } from './uploads.ts';
import { port, WORLDS } from './worlds.ts';

for (const [name, open] of WORLDS)
  uploadsContract(
    name,
    port(open, (stores) => stores.uploads),
  );
