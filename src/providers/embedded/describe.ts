import { BUNDLED, type BundledState, bundledState } from './bundled.ts';
import { findModels, type ModelSources } from './models.ts';

/** What `doctor` and the start text say about the embedded provider. */
export interface EmbeddedDescription {
  readonly bundled: BundledState;
  readonly modelsDir: string;
  /** Ids, the first being the default. */
  readonly models: readonly string[];
  /** Whole sentences for people: what is there, and how to get something better. */
  readonly lines: readonly string[];
}

/** Cheap: loads nothing and starts nothing. */
export async function describeEmbedded(sources: ModelSources): Promise<EmbeddedDescription> {
  const { config, dataDir, weights = BUNDLED, resolve } = sources;
  const models = (await findModels(sources)).map(({ id }) => id);
  const bundled = bundledState(dataDir, weights, resolve);
  const bundledId = weights.file.replace(/\.gguf$/, '');
  const own = models.filter((id) => id !== bundledId || bundled === 'missing');
  return {
    bundled,
    modelsDir: config.modelsDir,
    models,
    lines: [
      BUNDLED_LINE[bundled],
      own.length === 0 ? 'There are no models of your own yet.' : `Your own models: ${own.join(', ')}.`,
      `For better answers fetch a model ("sluice pull qwen3-0.6b", 640 MB), or put an instruct model as a .gguf file into ${config.modelsDir}; it is offered at once.`,
    ],
  };
}

const BUNDLED_LINE: Readonly<Record<BundledState, string>> = {
  ready: 'The bundled TinyLlama 1.1B Chat is ready. It is a small demo model: expect simple English, and mistakes.',
  packed:
    'The bundled TinyLlama 1.1B Chat is installed; its first use unpacks 323 MB into the data directory. It is a small demo model: expect simple English, and mistakes.',
  missing: 'The bundled demo model is not installed (its packages are optional).',
};
