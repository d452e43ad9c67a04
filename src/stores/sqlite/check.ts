import { parentPort, workerData } from 'node:worker_threads';
import { findDamage } from './damage.ts';
import type { FromWorker } from './protocol.ts';

/** A thread that looks for damage in a database that is too large to let requests wait for it. */

const message: FromWorker = { type: 'checked', damage: findDamage(String(workerData)) };
parentPort?.postMessage(message);
