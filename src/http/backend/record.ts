/** Bytes that one record of usage or of the client's log may have. */
export const RECORD_BYTES = 64 * 1024;

/** The same JSON with the control characters in its texts taken out, so that a log viewer shows lines as lines. */
export function withoutControls(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/[^\P{Cc}\n\t]/gu, ' ');
  if (Array.isArray(value)) return value.map(withoutControls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name.replace(/\p{Cc}/gu, ' '), withoutControls(each)]),
  );
}
