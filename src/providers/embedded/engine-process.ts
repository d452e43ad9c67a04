import { type Child, type ChildEvents, startChild } from '../../core/child-process.ts';
import type { SluiceError } from '../../core/errors.ts';
import { missingPart } from '../../core/missing-part.ts';
import type { FromEngine, ToEngine } from './protocol.ts';

/** The gateway's handle on an engine. */
export type EngineProcess = Child<ToEngine>;

/** An engine with nothing but cancelled tasks that ends none of them for so long is stuck, in milliseconds. */
export const STUCK_MS = 30_000;

const ENGINE = new URL('./engine.ts', import.meta.url);

/** Starts an engine, which waits for `load`. */
export function startEngineProcess(events: ChildEvents<FromEngine>): EngineProcess {
  return startChild(ENGINE, events);
}

/** Why none can be started, where its program is gone. */
export function missingEngine(): SluiceError | undefined {
  return missingPart(ENGINE);
}
