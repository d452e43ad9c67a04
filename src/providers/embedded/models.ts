import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EmbeddedConfig } from '../../config/config.ts';
import { BUNDLED, bundledState, type PackedWeights, type ResolvePart } from './bundled.ts';

/** A model the embedded provider offers. */
export interface EmbeddedModel {
  readonly id: string;
  readonly label: string;
  /** undefined: the bundled one, which may have to be unpacked first. */
  readonly path?: string;
}

/** Where models come from; `weights` and `resolve` are for tests. */
export interface ModelSources {
  readonly config: EmbeddedConfig;
  readonly dataDir: string;
  readonly weights?: PackedWeights;
  readonly resolve?: ResolvePart;
}

const EXTENSION = /\.gguf$/i;
/** Further parts of a model split into files, which llama.cpp finds by itself from the first. */
const FURTHER_PART = /-(?!0*1-of-)\d+-of-\d+\.gguf$/i;
/** Companions of vision models, which are no models themselves. */
const PROJECTOR = /^mmproj/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a name with these cannot be shown or put into a header
const UNSHOWABLE = /[\u0000-\u001f\u007f\\/]/;

/**
 * What is offered now: the person's own models by name, then the bundled one, so that a better model is what a request
 * without a name gets. Reads one folder and opens no file. A missing folder is an empty one.
 */
export async function findModels(sources: ModelSources): Promise<readonly EmbeddedModel[]> {
  const bundled = bundledModel(sources);
  const own = (await namesIn(sources.config.modelsDir)).map((name) => ownModel(sources.config.modelsDir, name));
  return bundled === undefined ? own : [...own.filter(({ id }) => id !== bundled.id), bundled];
}

function bundledModel({ dataDir, weights = BUNDLED, resolve }: ModelSources): EmbeddedModel | undefined {
  if (bundledState(dataDir, weights, resolve) === 'missing') return undefined;
  return { id: weights.file.replace(EXTENSION, ''), label: 'TinyLlama 1.1B Chat (small demo model)' };
}

function ownModel(folder: string, name: string): EmbeddedModel {
  const id = name.replace(EXTENSION, '');
  return { id, label: id, path: join(folder, name) };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map(({ name }) => name)
    .filter((name) => EXTENSION.test(name) && !name.startsWith('.') && !UNSHOWABLE.test(name))
    .filter((name) => !FURTHER_PART.test(name) && !PROJECTOR.test(name))
    .sort((a, b) => a.localeCompare(b, 'en'));
}
