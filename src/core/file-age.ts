/**
 * What time it is, or would be if nobody had set the clock forward since this process began (a machine learns the time only after
 * its start): for what must not be removed because of that. A clock that is set back is believed.
 */
export function cautiousNow(): number {
  return Math.min(Date.now(), unsetNow());
}

/** How long ago a file was written, in milliseconds; files that are in use do not become older by a clock that is set forward. */
export function fileAge(modified: number): number {
  // What was written later than that was written by the new clock.
  return (modified > unsetNow() ? Date.now() : cautiousNow()) - modified;
}

/** By a clock that nobody sets. */
function unsetNow(): number {
  return performance.timeOrigin + performance.now();
}
