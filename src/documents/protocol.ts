import type { Progress } from './archive.ts';
import type { Conversion, ConversionLimits } from './conversion.ts';

/** What the gateway and its workers tell each other: one job at a time, so nothing needs a number. */
export interface Job {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly limits: ConversionLimits;
}

/** `done` ends a job: the worker can take the next. */
export type FromWorker =
  /** It can take a job. */
  | { readonly type: 'ready' }
  /** Something was thrown while it worked; for the log. */
  | { readonly type: 'fault'; readonly error: string }
  | { readonly type: 'progress'; readonly progress: Progress }
  /** `resident`: bytes of memory that the worker now holds. */
  | { readonly type: 'done'; readonly conversion: Conversion; readonly resident: number };
