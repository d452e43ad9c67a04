import { conversationsContract } from './conversations.ts';
import { port, WORLDS } from './worlds.ts';

for (const [name, open] of WORLDS)
  conversationsContract(
    name,
    port(open, (stores) => stores.conversations),
  );
