import { parentPort } from 'node:worker_threads';
import { openBudget } from './conversion.ts';
import { convertFile } from './convert-file.ts';
import { INSTALLED } from './libraries.ts';
import type { FromWorker, Job } from './protocol.ts';

/** The thread of a worker that does the work. */

parentPort?.on('message', (job: Job) => void work(job));

async function work(job: Job): Promise<void> {
  const conversion = await convertFile(job, {
    libraries: INSTALLED,
    budget: openBudget(job.limits),
    onProgress: (progress) => tell({ type: 'progress', progress }),
    onFault: (error) =>
      tell({ type: 'fault', error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  });
  tell({ type: 'done', conversion, resident: 0 });
}

function tell(message: FromWorker): void {
  parentPort?.postMessage(message);
}
