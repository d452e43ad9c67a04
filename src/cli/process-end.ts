import type { Logger } from '../core/logger.ts';

/** Running answers are cut by the drain itself; whoever still runs this much later, in milliseconds, is cut by the end of the process. */
const GRACE_MS = 2_000;

interface ProcessEndDeps {
  /** Stops accepting, lets running answers finish. */
  readonly drain: () => Promise<void>;
  readonly drainMs: () => number;
  readonly log: Logger;
  /** What an exception that nothing caught leads to, in the words of its log line. */
  readonly onCrash: { readonly says: string; act?(): void };
  /** The process ends right behind this. */
  readonly onExit: () => void;
}

interface ProcessEnd {
  readonly hasBegun: boolean;
  /** Drains, and then ends the process with this code; with 1 when that fails or takes too long. Only the first time counts. */
  begin(code: number): void;
  /** Ends the process at once. */
  exit(code: number): void;
}

/**
 * The end of a process in good order, whoever asks for it. An exception that nothing caught leaves unknown state behind: log,
 * drain, code 1. A rejection that nobody handled belongs to one request, which has failed by it: log, and the process lives on.
 */
export function processEnd({ drain, drainMs, log, onCrash, onExit }: ProcessEndDeps): ProcessEnd {
  let hasBegun = false;

  function exit(code: number): void {
    onExit();
    process.exit(code);
  }

  function begin(code: number): void {
    if (hasBegun) return;
    hasBegun = true;
    setTimeout(() => {
      log.error({}, 'the drain did not end in time');
      exit(code === 0 ? 1 : code);
    }, drainMs() + GRACE_MS).unref();
    drain().then(
      () => exit(code),
      (error: unknown) => {
        log.error({ err: error }, 'the drain failed');
        exit(1);
      },
    );
  }

  process.on('uncaughtException', (error) => {
    log.error({ err: error }, `an exception was not caught; ${onCrash.says}`);
    if (hasBegun) return;
    onCrash.act?.();
    begin(1);
  });
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'a rejection was not handled; going on');
  });
  return {
    get hasBegun() {
      return hasBegun;
    },
    begin,
    exit,
  };
}
