// Builds the page into web/dist, with compressed copies of everything that a browser would want compressed.
// Plain JavaScript, and Node 20 is enough: `npm ci` runs it with whatever Node there is. `--if-possible` is for that case:
// where the development dependencies were left out, it says so and leaves the page out.
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { ifPossible } from '../scripts/if-possible.js';

const root = fileURLToPath(new URL('.', import.meta.url));
const dist = path.join(root, 'dist');

const vite = await ifPossible(() => import('vite'));
if (vite === undefined) {
  console.log('The page is not built, since vite is not installed; `npm install && npm run build:web` builds it.');
} else {
  await vite.build({
    root,
    configFile: path.join(root, 'vite.config.js'),
    logLevel: process.argv.includes('--if-possible') ? 'warn' : 'info',
  });
  await writeServiceWorker();
  await compressAll();
}

/** Lists the files of the shell in the service worker, under a name that changes with any of them. */
async function writeServiceWorker() {
  const manifest = JSON.parse(await readFile(path.join(dist, '.vite/manifest.json'), 'utf8'));
  await rm(path.join(dist, '.vite'), { recursive: true });
  const shell = new Set(['/', '/favicon.svg', '/manifest.webmanifest']);
  const visit = (key) => {
    const chunk = manifest[key];
    if (chunk === undefined || shell.has(`/${chunk.file}`)) return;
    shell.add(`/${chunk.file}`);
    for (const file of chunk.css ?? []) shell.add(`/${file}`);
    for (const each of chunk.imports ?? []) visit(each);
  };
  for (const [key, chunk] of Object.entries(manifest)) {
    if (chunk.isEntry || /i18n\/|views\/(chat|history|prompts\/slash)/.test(key)) visit(key);
    // All chats are on this browser, and so is the thread that searches them.
    if (/views\/history/.test(key)) for (const file of chunk.assets ?? []) shell.add(`/${file}`);
  }
  const index = await readFile(path.join(dist, 'index.html'));
  const files = [...shell].sort();
  const version = createHash('sha256').update(index).update(files.join('\n')).digest('hex').slice(0, 16);
  const worker = await readFile(path.join(root, 'service-worker.js'), 'utf8');
  const filled = worker.replace("'VERSION'", JSON.stringify(version)).replace("['FILES']", JSON.stringify(files));
  await writeFile(path.join(dist, 'service-worker.js'), filled);
}

/** Once here is cheaper than for each visitor: the best that brotli and gzip can do. */
async function compressAll() {
  for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(js|css|html|svg|json|webmanifest|txt)$/.test(entry.name)) continue;
    const file = path.join(entry.parentPath, entry.name);
    const bytes = await readFile(file);
    if (bytes.length < 512) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    await writeFile(`${file}.br`, brotliCompressSync(bytes, { params }));
    await writeFile(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  }
}
