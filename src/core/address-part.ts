/**
 * A text as one part of an address, percent-encoded. Half a surrogate pair, which cannot be, becomes U+FFFD; and `.` and `..`, which
 * are steps in a path however they are encoded, get a blank behind them.
 */
export function addressPart(text: string): string {
  const part = encodeURIComponent(text.toWellFormed());
  return part === '.' || part === '..' ? `${part}%20` : part;
}
