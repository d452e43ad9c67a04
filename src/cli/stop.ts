import type { ProcessLogger } from './logger.ts';

/** Running answers are cut by the drain itself; whoever still runs this much later is cut by the end of the process. */
const GRACE_MS = 2_000;

/**
 * Ctrl-C, and the end of a terminal, reach the whole process group, and the launcher passes them on once more: the same
 * signal twice at the same time is one wish. A person's second Ctrl-C comes later than this.
 */
const SAME_WISH_MS = 250;

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

export interface StopOptions {
  /** Stops accepting, lets running answers finish. */
  readonly drain: () => Promise<void>;
  readonly drainMs: () => number;
  readonly log: ProcessLogger;
  /** What SIGHUP asks for; by default to stop in order where a terminal has ended, else nothing. */
  readonly onHangup?: () => void;
}

/**
 * Ends the process in good order. First signal: drain, then code 0. Second signal: at once. An exception that nothing
 * caught leaves unknown state behind: log, drain, code 1. A rejection that nobody handled belongs to one request, which
 * has failed by it: log, and the process lives on.
 */
export function stopInOrder({ drain, drainMs, log, onHangup }: StopOptions): void {
  let stopping = false;

  function exit(code: number): void {
    log.flush();
    process.exit(code);
  }

  function stop(code: number): void {
    stopping = true;
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

  function begin(signal: string): void {
    log.info({ signal }, 'stopping; a second signal stops at once');
    stop(0);
  }

  const isEcho = echoes();
  for (const [signal, code] of Object.entries(CODES)) {
    process.on(signal, () => {
      const isSecond = !isEcho();
      if (!stopping) begin(signal);
      else if (isSecond) exit(code);
    });
  }
  // The launcher on an old Node was killed: who started that one would look for us in vain.
  if (process.connected) process.once('disconnect', () => stopping || begin('disconnect'));
  const isEchoOfHangup = echoes();
  const endsWithTerminal = isInTerminal();
  process.on('SIGHUP', (signal) => {
    if (isEchoOfHangup() || stopping) return;
    if (onHangup !== undefined) onHangup();
    else if (endsWithTerminal) begin(signal);
    else log.info({ signal }, 'the terminal has ended; going on without it');
  });
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'an exception was not caught; stopping');
    if (!stopping) stop(1);
  });
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'a rejection was not handled; going on');
  });
}

/** What tells of each signal that comes whether it is only the same wish once more. */
function echoes(): () => boolean {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    const isEcho = now - last < SAME_WISH_MS;
    last = now;
    return isEcho;
  };
}

/**
 * Whether it speaks to a terminal, and so ends with it. Node undoes what `nohup` did to the signal, but there is one thing it
 * does everywhere: lead both outputs elsewhere. (The input it leaves on the terminal on some systems.)
 */
function isInTerminal(): boolean {
  return process.stdout.isTTY || process.stderr.isTTY;
}
