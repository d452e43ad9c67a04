// The process: everything else starts from here.
import { run } from './cli/index.ts';

await run(process.argv.slice(2));
