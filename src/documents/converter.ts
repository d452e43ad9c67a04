import type { Logger } from '../core/logger.ts';
import { HEAD_BYTES } from '../media/kind.ts';
import type { Progress } from './archive.ts';
import { type Conversion, type ConversionLimits, DEFAULT_LIMITS, Refusal, rejected } from './conversion.ts';
import type { File } from './convert-file.ts';
import { identify } from './identify.ts';
import { Pool } from './pool.ts';
import { decodeTextInTurns } from './text.ts';

/** How many files at a time, and within which limits. */
export interface ConverterOptions {
  /** Asked with every file. */
  readonly limits?: () => ConversionLimits;
  readonly log?: Logger;
  /** Files that are worked on at the same time; the others wait. Each worker is a process. */
  readonly workers?: number;
  /** Milliseconds after which a worker without work ends. */
  readonly idleMs?: number;
}

interface ConvertOptions {
  /** Ends the work, or the waiting for it. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Files → text or media. */
export interface Converter {
  /**
   * Whatever is wrong with the file itself comes back as `rejected`. Throws the signal's reason when that aborts,
   * `SluiceError('overloaded')` when no worker can be started, and `shutting_down` when the converter is closed.
   */
  convert(file: File, options?: ConvertOptions): Promise<Conversion>;
  /** Ends the workers and whatever they do; resolves when they are gone. */
  close(): Promise<void>;
}

/** Starts nothing: a worker starts with the first file that needs one. */
export function createConverter(options: ConverterOptions = {}): Converter {
  const { limits = () => DEFAULT_LIMITS, log, workers = 2, idleMs = 60_000 } = options;
  const pool = new Pool({ workers, idleMs, ...(log === undefined ? {} : { log }) });
  return {
    async convert(file, { signal, onProgress = () => {} } = {}) {
      signal?.throwIfAborted();
      const { name, bytes } = file;
      return (await convertHere(file)) ?? (await pool.run({ name, bytes, limits: limits() }, signal, onProgress));
    },
    close: () => pool.close(),
  };
}

/**
 * Text and media that are not looked into need no worker: copying them there and back would take more than reading them.
 * Undefined for everything else.
 */
async function convertHere({ name, bytes }: File): Promise<Conversion | undefined> {
  try {
    const identity = identify(name, bytes.subarray(0, HEAD_BYTES));
    if (identity.kind === 'audio' || identity.kind === 'video') return identity;
    return identity.kind === 'text' ? { kind: 'text', text: await decodeTextInTurns(bytes) } : undefined;
  } catch (error) {
    if (error instanceof Refusal) return rejected(error);
    throw error;
  }
}
