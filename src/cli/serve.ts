import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { Flags } from '../config/flags.ts';
import { loadConfig } from '../config/load.ts';
import { secretsOf } from '../config/secrets.ts';
import { watchConfig } from '../config/watch.ts';
import type { Provider } from '../core/provider.ts';
import { version } from '../package.ts';
import { describeEmbedded } from '../providers/embedded/describe.ts';
import { listenFailure } from './listen-failure.ts';
import { type ServingOutput, servingOutput } from './log-output.ts';
import { createLogger } from './logger.ts';
import { settle } from './settle.ts';
import { foundText, startText } from './start-text.ts';
import { keepHangups, stopInOrder } from './stop.ts';

/** `sluice serve`: runs until a signal ends it. Throws what keeps it from starting. */
export async function serve(flags: Flags): Promise<void> {
  if (process.connected && (await isWorker())) {
    const { serveAsWorker } = await import('../workers/worker.ts');
    return serveAsWorker();
  }
  keepHangups();
  const loaded = await loadConfig({ flags });
  const { config, notes } = loaded;
  if (config.workers > 1) {
    const { serveByWorkers } = await import('../workers/primary.ts');
    return serveByWorkers(flags, loaded);
  }
  const log = createLogger(config.logLevel);
  log.hide(secretsOf(config));
  for (const note of notes) log.warn({}, note);

  const { createApp } = await import('../app.ts');
  // Looking for local servers begins after listening, and so after the start text.
  const app: App = await createApp(config, log, { onLocal: (ids) => tell(ids) });
  const output = servingOutput();
  const tell = teller(app.providers, output);
  let current: Config = config;
  settle();
  const address = await app.listen().catch((error: unknown) => {
    throw listenFailure(error, config.bind);
  });
  stopInOrder({ drain: () => app.drain(), drainMs: () => current.limits.drainMs, log });

  const providers = app.providers();
  const embedded = await describeEmbedded({ config: config.embedded, dataDir: config.dataDir });
  watchConfig(
    async () => (await loadConfig({ flags })).config,
    config,
    async (next) => {
      // Both, as long as answers with the former keys run.
      log.hide([...secretsOf(current), ...secretsOf(next)]);
      await app.apply(next);
      current = next;
    },
    log,
  );
  // Last: whoever reads it may come with so many connections that nothing can be opened any more.
  output.write(`${startText({ config, address, providers, embedded, notes, version })}\n`);
}

/** Whether this process was started by a Sluice with several. */
async function isWorker(): Promise<boolean> {
  const { default: cluster } = await import('node:cluster');
  return cluster.isWorker;
}

/** Prints each local server once, when it is first found. */
function teller(providers: () => readonly Provider[], output: ServingOutput): (ids: readonly string[]) => void {
  const told = new Set<string>();
  return (ids) => {
    for (const provider of providers()) {
      if (!ids.includes(provider.id) || told.has(provider.id) || provider.origin !== 'local') continue;
      told.add(provider.id);
      output.write(`${foundText(provider)}\n`);
    }
  };
}
