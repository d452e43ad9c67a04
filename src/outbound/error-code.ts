/** Errors of one chain of causes that are looked at: it may lead back into itself. */
const MOST_CAUSES = 4;

/** The system's or a library's code for what was thrown: its own, or that of its nearest cause that has one; '' without any. */
export function codeOf(thrown: unknown): string {
  for (let error = thrown, depth = 0; error instanceof Error && depth < MOST_CAUSES; error = error.cause, depth += 1) {
    if ('code' in error && typeof error.code === 'string') return error.code;
    if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  }
  return '';
}
