/** How often a process is looked at that may rest. */
const LOOK_MS = 60_000;
/** So many looks in a row have to find it quiet. */
const QUIET_LOOKS = 5;
/** CPU between two looks: up to a hundredth of a core is what timers and somebody who reads metrics take. */
const QUIET_CPU_MS = LOOK_MS / 100;
/** What it has to have taken since it last gave back, to be worth the time. */
const WORTHWHILE_BYTES = 32 * 2 ** 20;

/** What a process has used until now. */
export interface Used {
  /** CPU of all threads. */
  readonly cpuMs: number;
  readonly residentBytes: number;
}

/**
 * Gives back what only the start needed, about 20 MB: sources that were read, tables that were built. V8 would keep the room
 * until it is short of some. Takes some 50 ms. From then on the process gives back whenever it rests after work.
 *
 * To be called before the first request: when a collection comes between the first requests, each of the later ones costs
 * some 7 % more CPU, for as long as the process lives (Node 26, `bench --only json`). The collector is within reach where Node
 * was started with `--expose-gc`, as `bin/sluice.js` does it. The other way, from a context made by `node:vm`, costs still
 * more: V8 gives up optimisations once there are two contexts.
 */
export function settle(): void {
  const { gc } = globalThis;
  Reflect.deleteProperty(globalThis, 'gc');
  if (gc === undefined) return;
  const collect = (): void => void gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  collect();
  collectAtRest(collect, used);
}

/**
 * Has the garbage collected once there was next to nothing to do for five minutes. V8 itself does not while nothing is
 * allocated: 240 MB after a burst stay 240 MB. Not sooner, since it takes 100 ms, and V8 forgets with the garbage what it
 * knew of it: some 20,000 small requests afterwards cost a third more.
 */
export function collectAtRest(collect: () => void, look: () => Used): void {
  let last = look();
  let kept = last.residentBytes;
  let quietLooks = 0;
  setInterval(() => {
    const now = look();
    quietLooks = now.cpuMs - last.cpuMs <= QUIET_CPU_MS ? quietLooks + 1 : 0;
    last = now;
    if (quietLooks < QUIET_LOOKS || now.residentBytes < kept + WORTHWHILE_BYTES) return;
    collect();
    last = look();
    kept = last.residentBytes;
  }, LOOK_MS).unref();
}

function used(): Used {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1_000, residentBytes: process.memoryUsage.rss() };
}
