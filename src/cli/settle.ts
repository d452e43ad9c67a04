/** Long enough that nothing of the start is still under way. */
const AFTER_MS = 700;

/** What a process has to do with answers. */
export interface Busy {
  /** Answers that are running now. */
  readonly running: number;
  /** Answers that have begun since the start. */
  readonly begun: number;
}

/**
 * Gives back what only the start needed, about 20 MB: sources that were read, tables that were built. V8 would keep the room
 * until it is short of some. Takes some 50 ms, once, and only when nobody is being answered. The most thorough way throws
 * compiled code away too, which is right as long as there were no answers, and afterwards makes the next ones dear.
 *
 * The collector is within reach where Node was started with `--expose-gc`, as `bin/sluice.js` does it. The other way, from a
 * context made by `node:vm`, costs every later request a tenth of its CPU: V8 gives up optimisations once there are two contexts.
 */
export function settleSoon(app: Busy): void {
  setTimeout(() => {
    if (app.running > 0) return settleSoon(app);
    const { gc: collect } = globalThis;
    Reflect.deleteProperty(globalThis, 'gc');
    void collect?.({ type: 'major', execution: 'sync', flavor: app.begun === 0 ? 'last-resort' : 'regular' });
  }, AFTER_MS).unref();
}
