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
import { Connections } from './connections.ts';
import { RemoteDatabase } from './database.ts';
import { OtherWorkers } from './elsewhere.ts';
import { RemoteEngines } from './engines.ts';
import { LeasedPlaces } from './leased-places.ts';
import { RemoteLedger } from './ledger.ts';
import type { Beginning } from './words.ts';

/** Running answers are cut by the drain itself; whoever still runs this much later is cut by the end of the process. */
const GRACE_MS = 2_000;
const IDLE_LOOK_MS = 250;

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
  const { tag, folder, workers, notes } = beginning;
  let config = deepFreeze(beginning.config);
  const processLog = createLogger(config.logLevel);
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
    mediaChanged: (name, modified) => spread({ type: 'media', name, modified }),
    uploading: (id, isRunning) => primary.tell('upload', { id, isRunning }),
  };
  /** That others cannot be told is no reason to fail: then there is nobody any more. */
  async function spread(news: Parameters<typeof primary.ask<'spread'>>[1]): Promise<void> {
    await primary.ask('spread', news).catch(() => undefined);
  }

  const app = await createApp(config, log, { shared, observe: withInstance(config.observe, tag) });
  app.found(beginning.local);
  const connections = new Connections(app.server.server);

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
        await app.mediaChanged(news.name, news.modified);
        return undefined;
    }
  });

  let isStopping = false;
  let isServing = false;
  const started = Promise.withResolvers<void>();
  function exit(code: number): void {
    primary.flush();
    processLog.flush();
    elsewhere.close();
    // The last worker of a primary that was killed takes the folder of the sockets along.
    if (!process.connected) tryTo(() => rmdirSync(folder));
    process.exit(code);
  }
  async function stop(code: number): Promise<void> {
    isStopping = true;
    setTimeout(() => {
      log.error({}, 'the drain did not end in time');
      exit(code === 0 ? 1 : code);
    }, config.limits.drainMs + GRACE_MS).unref();
    try {
      // A server that is only about to listen cannot be closed.
      await started.promise;
      await app.drain();
      await primary.ask('farewell', await ledger.process()).catch(() => undefined);
      exit(code);
    } catch (error) {
      log.error({ err: error }, 'the drain failed');
      exit(1);
    }
  }
  async function retire(): Promise<void> {
    await Promise.all([connections.retire(), untilIdle(() => app.idle)]);
    if (!isStopping) await stop(0);
  }
  primary.on('stop', () => {
    if (!isStopping) void stop(0);
  });
  primary.on('retire', () => void retire());
  process.once('disconnect', () => {
    // They ran below the primary: nobody goes on with what they were asked for.
    engines.close();
    // While it stops already, the primary has lost its patience; and without one, no server begins to listen.
    if (isStopping || !isServing) exit(1);
    log.error({}, 'the primary process is gone; stopping');
    void stop(1);
  });
  // Meanwhile it may have gone.
  if (!process.connected) exit(1);
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'an exception was not caught; this worker stops');
    if (isStopping) return;
    primary.tell('failing', undefined);
    void stop(1);
  });
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'a rejection was not handled; going on');
  });

  await elsewhere.listen(app.server, config.limits.headerBytes);
  settle();
  const address = await app.listen().catch((error: unknown) => {
    throw listenFailure(error, config.bind);
  });
  isServing = true;
  started.resolve();
  const embedded = await describeEmbedded({ config: config.embedded, dataDir: config.dataDir });
  const providers = app.providers();
  primary.tell('serving', { ...address, text: startText({ config, address, providers, embedded, notes, version }) });
  if (!process.connected) void stop(1);
}

/** To a collector every worker is an instance of its own: their numbers would overwrite each other. */
function withInstance(observe: ObserveConfig, tag: string): ObserveConfig {
  if (observe.otel === undefined) return observe;
  const { 'service.instance.id': own = hostname() } = observe.otel.resource;
  const resource = { ...observe.otel.resource, 'service.instance.id': `${own}-${process.pid}-${tag}` };
  return { ...observe, otel: { ...observe.otel, resource } };
}

function untilIdle(isIdle: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (!isIdle()) return;
      clearInterval(timer);
      resolve();
    }, IDLE_LOOK_MS);
  });
}

function tryTo(action: () => void): void {
  try {
    action();
  } catch {
    // Others are still there, or were faster.
  }
}
