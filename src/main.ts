// The process: everything else starts from here. `bin/sluice.js` starts it.
import { run } from './cli/index.ts';

await run(process.argv.slice(2));
