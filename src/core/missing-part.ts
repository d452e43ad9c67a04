import { existsSync } from 'node:fs';
import { partMissing, type SluiceError } from './errors.ts';

/** Why `file`, a program of ours that is started when it is first needed, cannot be; undefined where it is there. */
export function missingPart(file: URL): SluiceError | undefined {
  return existsSync(file) ? undefined : partMissing();
}
