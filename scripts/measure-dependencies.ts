/**
 * `npm run measure-dependencies [-- --write]`: what each production dependency takes on disk, itself and together with what would
 * go if it went. `--write` puts versions, licences and sizes into docs/dependencies.md; its texts stay as they are.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** What is read of an entry of package-lock.json. */
export interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The member `packages` of package-lock.json: by place, such as `node_modules/a/node_modules/b`; the root is ''. */
export type Packages = Readonly<Record<string, LockedPackage>>;

/** What one dependency costs, in bytes. */
export interface Measured {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly own: number;
  /** Itself and everything that only it needs. */
  readonly alone: number;
}

/** What all of them cost, in bytes. */
export interface Report {
  readonly rows: readonly Measured[];
  /** Everything that production installs. */
  readonly total: number;
  /** What several need, and so is in nobody's `alone`. */
  readonly shared: number;
}

/** Where `name` is found from the package at `from` (a place in the lock file; the root is ''). */
function resolve(packages: Packages, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = parentOf(folder)) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (folder === '') return undefined;
  }
}

function parentOf(place: string): string {
  const at = place.lastIndexOf('/node_modules/');
  return at < 0 ? '' : place.slice(0, at);
}

/** The places of everything that `roots` need, themselves included. */
function reachable(packages: Packages, roots: readonly string[]): Set<string> {
  const found = new Set(roots);
  // A set is walked in the order of its growth, so this reaches what is added on the way.
  for (const place of found) {
    const { dependencies, optionalDependencies, peerDependencies } = packages[place] ?? {};
    for (const name of Object.keys({ ...peerDependencies, ...optionalDependencies, ...dependencies })) {
      const needed = resolve(packages, place, name);
      if (needed !== undefined) found.add(needed);
    }
  }
  return found;
}

/** Measures the dependencies `names` of the package at `from`. `sizeOf` tells the bytes of one place. */
export function measure(
  packages: Packages,
  from: string,
  names: readonly string[],
  sizeOf: (place: string) => number,
): Report {
  const roots = names.flatMap((name) => resolve(packages, from, name) ?? []);
  const sum = (places: Iterable<string>): number => [...places].reduce((bytes, place) => bytes + sizeOf(place), 0);
  const everything = reachable(packages, roots);
  const total = sum(everything);
  const rows = roots.map((root) => {
    const rest = reachable(
      packages,
      roots.filter((other) => other !== root),
    );
    const { version = '', license = 'unknown' } = packages[root] ?? {};
    const name = root.slice(root.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return { name, version, license, own: sizeOf(root), alone: total - sum(everything.intersection(rest)) };
  });
  return { rows, total, shared: total - rows.reduce((bytes, row) => bytes + row.alone, 0) };
}

/** Bytes of a package's files, without the packages inside of it; 0 when it is not installed on this platform. */
function sizeOfFolder(folder: string): number {
  if (!existsSync(folder)) return 0;
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') bytes += sizeOfFolder(place);
    else if (entry.isFile()) bytes += statSync(place).size;
  }
  return bytes;
}

function show(bytes: number): string {
  if (bytes === 0) return '–';
  if (bytes < 100_000) return `${Math.max(1, Math.round(bytes / 1000))} kB`;
  return `${(bytes / 1e6).toFixed(bytes < 9.95e6 ? 1 : 0)} MB`;
}

/** `text` with the figures of `reports` in its rows and its totals (`<!-- total NAME -->…<!-- /total -->`). */
export function withFigures(text: string, reports: Readonly<Record<string, Report>>): string {
  const rows = new Map(Object.values(reports).flatMap(({ rows }) => rows.map((row) => [row.name, row])));
  const lines = text.split('\n').map((line) => {
    const [, name, ...cells] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const row = rows.get(name?.replaceAll('`', '') ?? '');
    if (row === undefined || cells.length < 5) return line;
    const figures = [`\`${row.name}\``, row.version, row.license, show(row.own), show(row.alone)];
    return `| ${[...figures, ...cells.slice(4, -1)].join(' | ')} |`;
  });
  return lines
    .join('\n')
    .replaceAll(/(<!-- (total|shared) (\w+) -->).*?(<!-- \/\2 -->)/g, (whole, open, kind, name, close) => {
      const report = reports[name];
      return report === undefined ? whole : `${open}${show(kind === 'total' ? report.total : report.shared)}${close}`;
    });
}

/** The three groups of production dependencies of this repository, measured in its node_modules. */
export function measureRepository(root: string): Readonly<Record<'server' | 'optional' | 'page', Report>> {
  const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  const { packages } = read('package-lock.json') as { packages: Packages };
  const { dependencies, optionalDependencies } = read('package.json');
  const sizeOf = (place: string): number => sizeOfFolder(path.join(root, place));
  const group = (from: string, wanted: object): Report => measure(packages, from, Object.keys(wanted), sizeOf);
  return {
    server: group('', dependencies),
    optional: group('', optionalDependencies),
    page: group('web', read('web/package.json').dependencies),
  };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
  const root = fileURLToPath(new URL('../', import.meta.url));
  const reports = measureRepository(root);
  for (const [name, { rows, total, shared }] of Object.entries(reports)) {
    console.log(`\n${name}: ${show(total)}, of which ${show(shared)} are needed by several`);
    for (const row of rows.toSorted((a, b) => b.alone - a.alone)) {
      console.log(
        `${row.name.padEnd(34)} ${row.version.padEnd(9)} ${row.license.padEnd(13)} ${show(row.own).padStart(8)} ${show(row.alone).padStart(8)}`,
      );
    }
  }
  if (values.write) {
    const file = path.join(root, 'docs/dependencies.md');
    writeFileSync(file, withFigures(readFileSync(file, 'utf8'), reports));
  }
}
