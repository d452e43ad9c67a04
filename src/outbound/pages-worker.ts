import { parentPort } from 'node:worker_threads';
import { textOfHtml } from './pages-text.ts';

/** Entry of the thread that reads pages, so that a page that is hard to read holds nobody up. */

/** `address` is what relative links are resolved against. */
export interface ReadTask {
  readonly html: string;
  readonly address: string;
  readonly keepsLinks: boolean;
}

parentPort?.on('message', ({ html, address, keepsLinks }: ReadTask) => {
  try {
    parentPort?.postMessage({ page: textOfHtml(html, address, keepsLinks) });
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});

// Loading the libraries is no page's fault: its time runs from here on.
parentPort?.postMessage('ready');
