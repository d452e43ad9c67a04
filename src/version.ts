import { readFileSync } from 'node:fs';

/** Sluice's version, from package.json, which lies one folder up from here in the sources as in the compiled package. */
export const version: string = readVersion();

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
