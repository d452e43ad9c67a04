import cluster from 'node:cluster';
import { rmdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { createApp, type Shared } from '../app.ts';
import { explainFailure } from '../cli/failure.ts';
import { listenFailure } from '../cli/listen-failure.ts';
import { createLogger } from '../cli/logger.ts';
import { settle } from '../cli/settle.ts';
import { foundText, startText } from '../cli/start-text.ts';
import { deepFreeze } from '../config/freeze.ts';
import { secretsOf } from '../config/secrets.ts';
import type { ObserveConfig } from '../observe/config.ts';
import { version } from '../package.ts';
import { describeEmbedded } from '../providers/embedded/describe.ts';
import { Channel, type Message } from './channel.ts';
import { RemoteDatabase } from './database.ts';
import { OtherWorkers } from './elsewhere.ts';
import { endInOrder } from './ending.ts';
import { RemoteEngines } from './engines.ts';
import { LeasedPlaces } from './leased-places.ts';
import { RemoteLedger } from './ledger.ts';
import type { Beginning } from './words.ts';

/** One of several processes that serve the same port. Everything it shares is kept by the primary. */
export async function serveAsWorker(): Promise<void> {
  // A terminal and a service manager signal the whole group; what is to be done, the primary says.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const primary = new Channel((messages) => process.send?.(messages, undefined, undefined, () => {}));
  // Until it serves, there is nothing to drain.
  primary.on('stop', () => process.exit(0));
  const beginning = new Promise<Beginning>((resolve) => primary.on('begin', resolve));
  process.on('message', (messages: readonly Message[]) => {
    if (Array.isArray(messages)) primary.receive(messages);
  });
  // Node ends a worker without its primary at once, unless it believes that this was meant.
  if (cluster.worker !== undefined) {
    cluster.worker.exitedAfterDisconnect = true;
    // What Node itself tells a primary that is gone, such as that a server is to listen: `disconnect` says so.
    cluster.worker.on('error', () => {});
  }
  process.once('disconnect', () => primary.close());
  try {
    await work(primary, await beginning);
  } catch (error) {
    const { lines, exitCode } = explainFailure(error);
    primary.tell('failed', { lines, exitCode });
    primary.flush();
    setTimeout(() => process.exit(exitCode), 100);
  }
}

async function work(primary: Channel, beginning: Beginning): Promise<void> {
  const { tag, folder, workers, notes, logDescriptor } = beginning;
  let config = deepFreeze(beginning.config);
  const processLog = createLogger(config.logLevel, logDescriptor);
  processLog.hide(secretsOf(config));
  const log = processLog.child({ worker: process.pid });
  const elsewhere = new OtherWorkers(tag, folder, primary);
  const ledger = new RemoteLedger(primary);
  const engines = new RemoteEngines(primary);
  const shared: Shared = {
    tag,
    workers,
    database: new RemoteDatabase(primary),
    places: new LeasedPlaces(primary, () => config.limits),
    ledger,
    engines,
    elsewhere,
    cookiesChanged: () => spread({ type: 'cookies' }),
    mediaChanged: (change) => spread({ type: 'media', change }),
    bucketDeleted: (id) => spread({ type: 'bucket deleted', id }),
    writeUsage: () => spread({ type: 'usage wanted' }),
    uploading: (id, isRunning) => primary.tell('upload', { id, isRunning }),
  };
  /** That others cannot be told is no reason to fail: then there is nobody any more. */
  async function spread(news: Parameters<typeof primary.ask<'spread'>>[1]): Promise<void> {
    await primary.ask('spread', news).catch(() => undefined);
  }

  const app = await createApp(config, log, { shared, observe: withInstance(config.observe, tag) });
  app.found(beginning.local);

  primary.on('present', async () => {
    await ledger.flush();
    return { running: app.running, streams: app.streams, process: await ledger.process() };
  });
  primary.on('answers', () => app.answers);
  primary.on('news', async (news) => {
    switch (news.type) {
      case 'config':
        // Both, as long as answers with the former keys run.
        processLog.hide([...secretsOf(config), ...secretsOf(news.config)]);
        config = deepFreeze(news.config);
        await app.apply(config);
        return undefined;
      case 'local': {
        app.found(news.found);
        const ids = news.found.map((entry) => entry.id);
        return app
          .providers()
          .filter(({ id, origin }) => origin === 'local' && ids.includes(id))
          .map(foundText);
      }
      case 'cookies':
        await app.cookiesChanged();
        return undefined;
      case 'media':
        await app.mediaChanged(news.change);
        return undefined;
      case 'bucket deleted':
        app.bucketDeleted(news.id);
        return undefined;
      case 'usage wanted':
        await app.writeUsage();
        return undefined;
    }
  });

  const ending = endInOrder({
    ...{ app, primary, ledger, log },
    drainMs: () => config.limits.drainMs,
    // They ran below the primary: nobody goes on with what they were asked for.
    onAlone: () => engines.close(),
    onExit() {
      processLog.flush();
      elsewhere.close();
      // The last worker of a primary that was killed takes the folder of the sockets along.
      if (!process.connected) tryTo(() => rmdirSync(folder));
    },
  });

  await elsewhere.listen(app.server, config.limits.headerBytes);
  settle();
  const address = await app.listen().catch((error: unknown) => {
    throw listenFailure(error, config.bind);
  });
  ending.serves();
  const embedded = await describeEmbedded({ config: config.embedded, dataDir: config.dataDir });
  const providers = app.providers();
  primary.tell('serving', { ...address, text: startText({ config, address, providers, embedded, notes, version }) });
  if (!process.connected) ending.stop(1);
}

/** To a collector every worker is an instance of its own: their numbers would overwrite each other. */
function withInstance(observe: ObserveConfig, tag: string): ObserveConfig {
  if (observe.otel === undefined) return observe;
  const { 'service.instance.id': own = hostname() } = observe.otel.resource;
  const resource = { ...observe.otel.resource, 'service.instance.id': `${own}-${process.pid}-${tag}` };
  return { ...observe, otel: { ...observe.otel, resource } };
}

function tryTo(action: () => void): void {
  try {
    action();
  } catch {
    // Others are still there, or were faster.
  }
}
