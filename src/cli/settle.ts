/**
 * Gives back what only the start needed, about 20 MB: sources that were read, tables that were built. V8 would keep the room
 * until it is short of some. Takes some 50 ms.
 *
 * To be called before the first request: when a collection comes between the first requests, each of the later ones costs
 * some 7 % more CPU, for as long as the process lives (Node 26, `bench --only json`). The collector is within reach where Node
 * was started with `--expose-gc`, as `bin/sluice.js` does it. The other way, from a context made by `node:vm`, costs still
 * more: V8 gives up optimisations once there are two contexts.
 */
export function settle(): void {
  const { gc: collect } = globalThis;
  Reflect.deleteProperty(globalThis, 'gc');
  void collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
