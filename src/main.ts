// The process: everything else starts from here.
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';

// Compiled code of earlier starts halves the next one. In the user's own folder: elsewhere others could plant code.
enableCompileCache(path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'sluice', 'code'));

const { run } = await import('./cli/index.ts');
await run(process.argv.slice(2));
