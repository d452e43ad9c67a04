import { type ErrorCode, type ErrorOptions, SluiceError } from '../core/errors.ts';

/** An error as it travels: without its cause, which may hold anything. */
export interface PlainError {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly options?: Omit<ErrorOptions, 'cause'>;
}

/** An error without its cause, as it can travel. */
export function toPlain(thrown: unknown): PlainError {
  if (!(thrown instanceof SluiceError)) return { message: thrown instanceof Error ? thrown.message : String(thrown) };
  const { cause: _, ...options } = thrown.options;
  return { code: thrown.code, message: thrown.message, options };
}

/** The reverse: a `SluiceError` where it was one. */
export function toError({ code, message, options }: PlainError): Error {
  return code === undefined ? new Error(message) : new SluiceError(code, message, options);
}
