import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * The module that the process starts with, of the package in `folder`: the built one (dist), which starts faster. Where
 * something that it was built from has changed since, and where nothing was built, the sources as they are.
 */
export function entryModule(folder) {
  const built = path.join(folder, 'dist/main.js');
  const sources = path.join(folder, 'src/main.ts');
  // A published package has no sources.
  if (!existsSync(sources) || isNewest(built, folder)) return built;
  return sources;
}

/** Whether nothing that goes into the build is newer than `built`. */
function isNewest(built, folder) {
  const time = timeOf(built);
  if (time === undefined) return false;
  const src = path.join(folder, 'src');
  // With folders, whose time tells of files that went; npm writes the hidden file whenever it installs something.
  const inputs = [src, path.join(folder, 'package.json'), path.join(folder, 'node_modules/.package-lock.json')];
  for (const name of readdirSync(src, { recursive: true })) inputs.push(path.join(src, name));
  return inputs.every((input) => (timeOf(input) ?? 0) <= time);
}

/** When a file or folder was changed last, in milliseconds; undefined where there is none. */
function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
