import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import path from 'node:path';

const file = packageFile();

/** Where the package lies: its code (src, or dist when built), package.json, and the page in web/dist. */
export const packageFolder: string = path.dirname(file);

/** Sluice's version, from package.json. */
export const version: string = (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;

/** Looked for upwards from here, since the build puts this module elsewhere. */
function packageFile(): string {
  const found = findPackageJSON(import.meta.url);
  if (found === undefined) throw new Error('There is no package.json above the code.');
  return found;
}
