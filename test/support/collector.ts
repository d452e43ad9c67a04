import type { Running } from './run-sluice.ts';

/** Signals ask for a collection; each is told when it is over. Taken at once, since the start puts it out of reach. */
const HOOK = `
const { gc } = globalThis;
let count = 0;
process.on('SIGUSR2', () => {
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  count += 1;
  const { heapUsed, external } = process.memoryUsage();
  console.error('collected ' + count + '; ' + (heapUsed + external) + ' bytes');
});`;

/** The environment of a process that can be asked to collect its garbage. */
export const COLLECTING = {
  NODE_OPTIONS: `--expose-gc --import=data:text/javascript,${encodeURIComponent(HOOK)}`,
};

/**
 * For a process that was started with `COLLECTING`. Has all garbage collected, and the room for it given back, so that what
 * stays in memory is in use: that many bytes.
 */
export function collector(running: Running): () => Promise<number> {
  let collections = 0;
  return async () => {
    collections += 1;
    running.process.kill('SIGUSR2');
    const [, bytes] = await running.said(new RegExp(`collected ${collections}; (\\d+) bytes`));
    return Number(bytes);
  };
}
