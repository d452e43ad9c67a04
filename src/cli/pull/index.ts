import type { Flags } from '../../config/flags.ts';
import { loadConfig } from '../../config/load.ts';
import { type Environment, variable } from '../../config/paths.ts';
import { makeFolder } from '../../core/folder.ts';
import { download } from './download.ts';
import { Progress } from './progress.ts';
import { sourcesOf } from './source.ts';

const SILENCE_MS = 60_000;

/** `sluice pull`: fetches a model for the embedded provider into its folder, with what is there of it from before. Throws `Failure`. */
export async function pull(
  wish: string,
  flags: Flags,
  { environment, output }: { readonly environment: Environment; readonly output: NodeJS.WriteStream },
): Promise<void> {
  const sources = sourcesOf(wish);
  const { config } = await loadConfig({ flags, environment });
  const folder = config.embedded.modelsDir;
  await makeFolder(folder);
  const { EnvHttpProxyAgent, request } = await import('undici');
  const dispatcher = new EnvHttpProxyAgent({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
  try {
    for (const source of sources) {
      const progress = new Progress(source.file, output);
      const bytes = await download(source, {
        folder,
        request: (url, options) => request(url, { ...options, dispatcher }),
        token: variable(environment, 'HF_TOKEN'),
        progress: (done, total) => progress.show(done, total),
        retrying: (reason) => progress.say(`${reason} Trying again.`),
      }).finally(() => progress.end());
      output.write(bytes === undefined ? `${source.file} is there already.\n` : `${source.file} is whole.\n`);
    }
    const [first] = sources;
    const model = first?.file.replace(/\.gguf$/i, '') ?? wish;
    const offered = config.embedded.enabled
      ? `Sluice offers it as embedded/${model}, at once where it is running.`
      : 'Sluice offers it once embedded.enabled is true.';
    output.write(`It is in ${folder}. ${offered}\n`);
  } finally {
    // Not `close`, which waits for the end of an answer that nobody reads any more.
    await dispatcher.destroy();
  }
}
