import type { Logger } from '../core/logger.ts';
import { type ExpiryDeps, forgetExpired } from './expired.ts';
import { type LeftoverDeps, sweepLeftovers } from './leftovers.ts';

/** How long after the start, and how often from then on, in milliseconds. */
const FIRST_MS = 60_000;
const EVERY_MS = 24 * 60 * 60_000;
/** The same for what has expired, which is found without a look at all there is. */
const EXPIRED_EVERY_MS = 60 * 60_000;

/** Sweeps now and then in the background, until it is stopped. What fails is logged, and tried again the next time. */
export function sweepRegularly(deps: LeftoverDeps & ExpiryDeps, log: Logger): { stop(): void } {
  const logged = (removing: Promise<number>, level: 'debug' | 'info', what: string): void => {
    removing.then(
      (removed) => {
        if (removed > 0) log[level]({ removed }, `removed ${what}`);
      },
      (error: unknown) => log.warn({ error }, `could not remove ${what}`),
    );
  };
  const forget = (): void => logged(forgetExpired(deps), 'debug', 'what has expired');
  const sweep = (): void => logged(sweepLeftovers(deps), 'info', 'files that nobody has any more');
  const both = (): void => {
    forget();
    sweep();
  };
  const first = setTimeout(both, FIRST_MS).unref();
  const again = [setInterval(forget, EXPIRED_EVERY_MS).unref(), setInterval(sweep, EVERY_MS).unref()];
  return {
    stop() {
      clearTimeout(first);
      for (const timer of again) clearInterval(timer);
    },
  };
}
