import type { Stats } from 'node:fs';
import { opendir } from 'node:fs/promises';
import path from 'node:path';
import { isSegment } from '../file-path.ts';
import { isAbsence, statOf } from './places.ts';

/** Files that are looked at at the same time. */
const AT_ONCE = 32;

interface Found {
  /** Relative to where the walk began, with `/`. */
  readonly path: string;
  readonly stats: Stats;
}

/** All plain files below a folder that have names of the port; symbolic links and anything else are passed over. */
export async function* walk(folder: string, levels: number, prefix = ''): AsyncIterable<Found> {
  const folders: string[] = [];
  let names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (!isSegment(entry.name)) continue;
      if (entry.isDirectory()) folders.push(entry.name);
      if (entry.isFile()) names.push(entry.name);
      if (names.length === AT_ONCE) {
        yield* look(folder, prefix, names);
        names = [];
      }
    }
  } catch (error) {
    // Deleted while it was read.
    if (!isAbsence(error)) throw error;
  }
  yield* look(folder, prefix, names);
  if (levels === 1) return;
  for (const name of folders) yield* walk(path.join(folder, name), levels - 1, `${prefix}${name}/`);
}

async function* look(folder: string, prefix: string, names: readonly string[]): AsyncIterable<Found> {
  const found = await Promise.all(names.map(async (name) => ({ name, stats: await statOf(path.join(folder, name)) })));
  for (const { name, stats } of found) if (stats?.isFile()) yield { path: prefix + name, stats };
}
