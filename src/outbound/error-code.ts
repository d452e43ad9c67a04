/** Errors of one chain of causes that are looked at: it may lead back into itself. */
const MOST_CAUSES = 4;

/** The system's or a library's code for what was thrown: its own, or that of its nearest cause that has one; '' without any. */
export function codeOf(thrown: unknown): string {
  let error = thrown;
  for (let looked = 0; error instanceof Error && looked < MOST_CAUSES; looked += 1) {
    if ('code' in error && typeof error.code === 'string') return error.code;
    error = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error.cause;
  }
  return '';
}

/** Whether it is the code of a certificate that is not taken: of an unknown authority, of another name, or out of date. */
export function isDistrust(code: string): boolean {
  return /^(?!ERR_SSL_).*(?:CERT|LEAF_SIGNATURE|HOSTNAME_MISMATCH)/.test(code);
}
