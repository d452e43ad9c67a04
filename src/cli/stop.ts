import type { ProcessLogger } from './logger.ts';
import { processEnd } from './process-end.ts';

/**
 * Ctrl-C, and the end of a terminal, reach the whole process group, and the launcher passes them on once more: the same
 * signal twice at the same time is one wish. A person's second Ctrl-C comes later than this.
 */
const SAME_WISH_MS = 250;

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

interface StopOptions {
  /** Stops accepting, lets running answers finish. */
  readonly drain: () => Promise<void>;
  readonly drainMs: () => number;
  readonly log: ProcessLogger;
  /** What SIGHUP asks for; by default to stop in order where a terminal has ended, else nothing. */
  readonly onHangup?: () => void;
}

/** A SIGHUP that came before anybody could do what it asks for. */
let earlyHangup = false;

/**
 * Keeps a SIGHUP of the start for `stopInOrder`, which would end the process: a service may be told to reload as soon as it was
 * started. In a terminal it does end it.
 */
export function keepHangups(): void {
  if (isInTerminal()) return;
  process.on('SIGHUP', () => {
    earlyHangup = true;
  });
}

/** Ends the process in good order. First signal: drain, then code 0. Second signal: at once. */
export function stopInOrder({ drain, drainMs, log, onHangup }: StopOptions): void {
  const end = processEnd({ drain, drainMs, log, onCrash: { says: 'stopping' }, onExit: () => log.flush() });
  let lastSignal = Number.NEGATIVE_INFINITY;
  let hangup: NodeJS.Timeout | undefined;

  function begin(signal: string): void {
    log.info({ signal }, 'stopping; a second signal stops at once');
    end.begin(0);
  }

  for (const [signal, code] of Object.entries(CODES)) {
    process.on(signal, () => {
      const now = performance.now();
      const isEcho = now - lastSignal < SAME_WISH_MS;
      lastSignal = now;
      if (!end.hasBegun) begin(signal);
      else if (!isEcho) end.exit(code);
    });
  }
  // The launcher on an old Node was killed: who started that one would look for us in vain.
  if (process.connected) process.once('disconnect', () => end.hasBegun || begin('disconnect'));
  const endsWithTerminal = isInTerminal();
  function hangUp(): void {
    if (end.hasBegun) return;
    const signal = 'SIGHUP';
    if (onHangup !== undefined) onHangup();
    else if (endsWithTerminal) begin(signal);
    else log.info({ signal }, 'the terminal has ended; going on without it');
  }
  function onSignal(): void {
    // After the last of them, so that what was changed before it counts.
    clearTimeout(hangup);
    hangup = setTimeout(hangUp, SAME_WISH_MS).unref();
  }
  process.on('SIGHUP', onSignal);
  if (earlyHangup) onSignal();
}

/**
 * Whether it speaks to a terminal, and so ends with it. Node undoes what `nohup` did to the signal, but there is one thing it
 * does everywhere: lead both outputs elsewhere. (The input it leaves on the terminal on some systems.)
 */
function isInTerminal(): boolean {
  return process.stdout.isTTY || process.stderr.isTTY;
}
