#!/usr/bin/env node
// The `sluice` command. A published package is compiled (dist); a checkout runs its sources as they are.
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runWithNode } from './node-runtime.js';

const sources = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const main = existsSync(sources) ? sources : fileURLToPath(new URL('../dist/main.js', import.meta.url));

// One thread for V8's background work: a gateway waits more than it computes, and two busy cores are kept free.
runWithNode(['--v8-pool-size=1', main, ...process.argv.slice(2)], () => import(pathToFileURL(main).href));
