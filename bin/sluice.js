#!/usr/bin/env node
// The `sluice` command.
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { entryModule } from './code.js';
import { runWithNode } from './node-runtime.js';

/**
 * Flags for Node. One thread for V8's background work: a gateway waits more than it computes, and two busy cores are kept
 * free. A small young generation: what a request leaves behind is small, and dies soon. The collector within reach, which
 * is used once at the start (cli/settle.ts).
 */
const flags = createRequire(import.meta.url)('./node-flags.json');

async function inProcess() {
  // Destroyed on V8's one background thread, what Maglev takes to compile piles up to 30 MB that never come back. Not among
  // the flags above: Node knows few of V8's by name, and would not start with one that a later V8 has not.
  setFlagsFromString('--no-maglev-destroy-on-background');
  // V8 would let the old generation, 25 MB here, grow fourfold before it collects that, and most of it would be streams long ended.
  setFlagsFromString('--heap-growing-percent=50');
  // A function is optimised fully after a thousand calls instead of three thousand: a process is as quick as it gets after some ten
  // thousand requests instead of forty thousand, at its start and whenever V8 has thrown optimised code away.
  setFlagsFromString('--invocation-count-for-turbofan=1000');
  // Compiled code of earlier starts halves the time of the next one, and where sources run Node need not load its
  // translator for them, which takes 18 MB.
  // Asked for here, since the old Nodes that start this file do not have it.
  const { enableCompileCache, registerHooks } = await import('node:module');
  const cache = cacheFolder();
  const compiled = cache && path.join(cache, 'sluice', 'code');
  if (compiled !== undefined && isMade(compiled)) enableCompileCache(compiled);
  registerHooks({ resolve: withoutTranslations });
  return import(pathToFileURL(entryModule(fileURLToPath(new URL('..', import.meta.url)))).href);
}

/** The user's own one, since elsewhere others could plant code; undefined where there is none. */
function cacheFolder() {
  const given = process.env['XDG_CACHE_HOME'] ?? '';
  // A relative value is to be ignored (XDG Base Directory Specification).
  if (path.isAbsolute(given)) return given;
  try {
    const home = homedir();
    return path.isAbsolute(home) ? path.join(home, '.cache') : undefined;
  } catch {
    // Neither HOME nor an entry in the list of users.
    return undefined;
  }
}

/**
 * Makes a folder with what is missing above it, for its owner only; returns whether it is there then. Left to Node, others could write
 * into it under a wide umask, and a home below an automounter, or `/proc`, would be tried without end.
 */
function isMade(folder) {
  if (existsSync(folder)) return true;
  const parent = path.dirname(folder);
  if (parent === folder || !isMade(parent)) return false;
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // Another process may have made it meanwhile.
  }
  return existsSync(folder);
}

/** zod's messages in some sixty languages, of which none is used here: some 20 ms at the start, and 1.6 MB. English is apart. */
function withoutTranslations(specifier, context, next) {
  if (specifier !== '../locales/index.js' || !context.parentURL?.includes('/zod/')) return next(specifier, context);
  return { url: 'data:text/javascript,', shortCircuit: true };
}

await runWithNode([fileURLToPath(import.meta.url), ...process.argv.slice(2)], { flags, inProcess });
