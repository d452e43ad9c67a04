/**
 * How long ago a file was written, in milliseconds. A system's clock that is set forward while this process runs (a machine that
 * learns the time only after its start) does not make files older that are in use: the time that has passed since then is that of
 * a clock which nobody sets.
 */
export function fileAge(modified: number): number {
  const now = Date.now();
  const unset = performance.timeOrigin + performance.now();
  // What was written later than that was written by the new clock.
  return (modified > unset ? now : Math.min(now, unset)) - modified;
}
