import { ConfigError } from '../config/problems.ts';
import { oneLine } from '../core/one-line.ts';

/** Exit code: something went wrong while running. */
export const EXIT_FAILED = 1;
/** Exit code: wrong usage or configuration. */
export const EXIT_USAGE = 2;

/** What ends a command with one clear line instead of a stack. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT_FAILED) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}

/** What to print on stderr and with which code to end. Configuration may have several lines: one per problem. */
export function explainFailure(error: unknown): { readonly lines: readonly string[]; readonly exitCode: number } {
  if (error instanceof ConfigError) return { lines: error.problems, exitCode: EXIT_USAGE };
  if (error instanceof Failure) return { lines: [oneLine(error.message)], exitCode: error.exitCode };
  const { message, code } = Object(error) as { message?: unknown; code?: unknown };
  const words = typeof message === 'string' && message !== '' ? message : String(error);
  const isKnown = typeof code !== 'string' || words.includes(code);
  return { lines: [oneLine(isKnown ? words : `${words} (${code})`)], exitCode: EXIT_FAILED };
}
