import { randomBytes } from 'node:crypto';
import { isLoopback } from './bind.ts';

/** The word that stands for: nobody is asked for a key. */
export const NO_KEY = 'none';

const RANDOM_BYTES = 24;

/** The access key of this start. `wanted` is the one from flags, environment or file. */
export function accessKey(wanted: string | undefined, host: string): { key?: string; keyGenerated?: true } {
  if (wanted === NO_KEY) return {};
  if (wanted !== undefined) return { key: wanted };
  // Beyond loopback everybody on the network could use the owner's paid providers, so that a key is the default there.
  return isLoopback(host) ? {} : { key: randomBytes(RANDOM_BYTES).toString('base64url'), keyGenerated: true };
}
