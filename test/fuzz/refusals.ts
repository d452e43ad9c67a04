import { SluiceError } from '../../src/core/errors.ts';
import { Refusal } from '../../src/documents/conversion.ts';

/** Any value as the text that a client might send. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** What is made, or undefined where it is refused. Whatever else is thrown is a fault. */
export function orRefusal<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    assertRefusal(error);
    return undefined;
  }
}

export function assertRefusal(error: unknown): void {
  const isRefusal = error instanceof Refusal || (error instanceof SluiceError && error.status < 500);
  if (!isRefusal) throw error;
}
