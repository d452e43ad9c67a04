import { SluiceError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Progress } from './archive.ts';
import { type Conversion, type ConversionLimits, DEFAULT_LIMITS, openBudget, Refusal } from './conversion.ts';
import { convertFile, type File } from './convert-file.ts';
import { HEAD_BYTES, identify } from './identify.ts';
import { SWITCHED_OFF } from './libraries.ts';
import { Pool } from './pool.ts';

export interface ConverterOptions {
  /** Whether documents are converted; if not they are `rejected` as "not converted", and text and media are as before. */
  readonly enabled?: boolean;
  readonly limits?: Partial<ConversionLimits>;
  readonly log?: Logger;
  /** Files that are worked on at the same time; the others wait. Each worker is a process. */
  readonly workers?: number;
  /** Milliseconds after which a worker without work ends. */
  readonly idleMs?: number;
}

export interface ConvertOptions {
  /** Ends the work, or the waiting for it. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Files → text or media. */
export interface Converter {
  /**
   * Whatever is wrong with the file itself comes back as `rejected`. Throws the signal's reason when that aborts, and
   * `shutting_down` after `close`.
   */
  convert(file: File, options?: ConvertOptions): Promise<Conversion>;
  /** Ends the workers and whatever they do. */
  close(): Promise<void>;
}

/** Up to this size decoding a text takes less time than sending it to a worker. */
const SMALL_TEXT_BYTES = 256 * 1024;

/** Starts nothing: a worker starts with the first file that needs one. */
export function createConverter(options: ConverterOptions = {}): Converter {
  const { enabled = true, log, workers = 2, idleMs = 60_000 } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const pool = new Pool({ workers, idleMs, ...(log === undefined ? {} : { log }) });
  return {
    async convert(file, { signal, onProgress = () => {} } = {}) {
      signal?.throwIfAborted();
      if (pool.isClosed) throw new SluiceError('shutting_down', 'Sluice is shutting down.');
      if (isQuick(file)) {
        const onFault = (error: unknown): void => log?.debug({ file: file.name, error }, 'a file could not be read');
        return await convertFile(file, { libraries: SWITCHED_OFF, budget: openBudget(limits), onProgress, onFault });
      }
      return await pool.run({ ...file, limits, enabled }, signal, onProgress);
    },
    close: () => pool.close(),
  };
}

/** Whether a file is dealt with at once: text that is short, media that are not looked into, names that are not supported. */
function isQuick(file: File): boolean {
  try {
    const { kind } = identify(file.name, file.bytes.subarray(0, HEAD_BYTES));
    return kind === 'audio' || kind === 'video' || (kind === 'text' && file.bytes.length <= SMALL_TEXT_BYTES);
  } catch (error) {
    return error instanceof Refusal;
  }
}
