import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startGateway } from './gateway.ts';

/** The gateway in a process of its own, for tests about its memory. */
export interface GatewayProcess extends AsyncDisposable {
  readonly origin: string;
  /** Bytes of memory it has now, after a garbage collection, and the most it has ever had. */
  memory(): Promise<{ readonly now: number; readonly peak: number }>;
}

/** `yaml` as for `startGateway`. */
export async function startGatewayProcess(yaml: string): Promise<GatewayProcess> {
  const child = fork(fileURLToPath(import.meta.url), [yaml], { execArgv: ['--expose-gc'] });
  const origin = await answer<string>(child);
  return {
    origin,
    memory() {
      child.send('memory');
      return answer(child);
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.send('end');
      await ended;
    },
  };
}

/** The kernel's own figure where there is one; that of `getrusage` begins with what the parent had. */
function peak(): number {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1];
  return (kilobytes === undefined ? process.resourceUsage().maxRSS : Number(kilobytes)) * 1024;
}

async function answer<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  const onExit = () => ended.abort(new Error('the gateway has ended'));
  child.once('exit', onExit);
  try {
    const [message] = await once(child, 'message', { signal: ended.signal });
    return message as T;
  } finally {
    child.off('exit', onExit);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const gateway = await startGateway(process.argv[2] ?? '');
  process.on('message', async (message) => {
    if (message === 'memory') {
      (globalThis as { gc?(): void }).gc?.();
      process.send?.({ now: process.memoryUsage.rss(), peak: peak() });
    } else {
      await gateway.close();
      process.disconnect?.();
    }
  });
  process.send?.(gateway.origin);
}
