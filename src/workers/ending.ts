import type { App } from '../app.ts';
import { processEnd } from '../cli/process-end.ts';
import type { Logger } from '../core/logger.ts';
import type { Channel } from './channel.ts';
import { Connections } from './connections.ts';
import type { RemoteLedger } from './ledger.ts';

/** How often it is looked whether a worker that retires has nothing to do any more, in milliseconds. */
const IDLE_LOOK_MS = 250;

interface EndingDeps {
  readonly app: App;
  readonly primary: Channel;
  readonly ledger: RemoteLedger;
  readonly drainMs: () => number;
  readonly log: Logger;
  /** The primary is gone, and all that ran below it. */
  readonly onAlone: () => void;
  /** The process ends right behind this. */
  readonly onExit: () => void;
}

interface Ending {
  /** Drains, says farewell and ends the process. */
  stop(code: number): void;
  /** To be called once the worker listens: before that there is nothing that could be closed. */
  serves(): void;
}

/** Ends a worker in good order: when the primary says so or is gone, or after an exception that nothing caught. */
export function endInOrder({ app, primary, ledger, drainMs, log, onAlone, onExit }: EndingDeps): Ending {
  const connections = new Connections(app.server.server);
  const started = Promise.withResolvers<void>();
  let isServing = false;

  async function drain(): Promise<void> {
    // A server that is only about to listen cannot be closed.
    await started.promise;
    await app.drain();
    await primary.ask('farewell', await ledger.process()).catch(() => undefined);
  }

  const end = processEnd({
    ...{ drain, drainMs, log },
    onCrash: { says: 'this worker stops', act: () => primary.tell('failing', undefined) },
    onExit() {
      primary.flush();
      onExit();
    },
  });

  function retire(): undefined {
    void Promise.all([connections.retire(), untilIdle(() => app.idle)]).then(() => end.begin(0));
  }

  primary.on('stop', () => end.begin(0));
  primary.on('retire', retire);
  process.once('disconnect', () => {
    onAlone();
    // While it stops already, the primary has lost its patience; and without one, no server begins to listen.
    if (end.hasBegun || !isServing) end.exit(1);
    log.error({}, 'the primary process is gone; stopping');
    end.begin(1);
  });
  // Meanwhile it may have gone.
  if (!process.connected) end.exit(1);

  return {
    stop: end.begin,
    serves() {
      isServing = true;
      started.resolve();
    },
  };
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
