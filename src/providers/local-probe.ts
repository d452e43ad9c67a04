import { request } from '../core/node-http.ts';
import { objectsIn, parseObject } from '../core/objects.ts';

/** A longer answer is no local model server's. */
const MAX_ANSWER = 1024 * 1024;

/** The fields that are read of answers and their parts. All are checked where they are used. */
export type Entry = { readonly [field in Field]?: unknown };

type Field =
  | ('object' | 'data' | 'owned_by')
  | ('version' | 'models' | 'state' | 'key' | 'loaded_instances')
  | ('default_generation_settings' | 'role' | 'backends' | 'info' | 'title');

/** How long to wait, and whom to tell of what is there but busy. */
export interface AskOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Called when the connection was accepted but no whole answer came in time. */
  onSilence(): void;
}

/** The JSON object at a path of a loopback port; undefined for everything else. One connection, no key, no redirects. */
export function askLoopback(port: number, path: string, options: AskOptions): Promise<Entry | undefined> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  return new Promise((resolve) => {
    const headers = { accept: 'application/json', connection: 'close' };
    const asked = request({ host: '127.0.0.1', port, path, headers, agent: false, signal }, (response) => {
      response.on('error', failed);
      if (response.statusCode !== 200) return finish(undefined);
      const pieces: Buffer[] = [];
      let size = 0;
      response.on('data', (piece: Buffer) => {
        size += piece.length;
        if (size > MAX_ANSWER) return finish(undefined);
        pieces.push(piece);
      });
      response.on('end', () => finish(parseObject(Buffer.concat(pieces).toString('utf8'))));
    });
    function finish(answer: Entry | undefined): void {
      resolve(answer);
      asked.destroy();
    }
    function failed(): void {
      if (timeout.aborted) options.onSilence();
      finish(undefined);
    }
    asked.on('error', failed);
    asked.end();
  });
}

/** What a list has; Ollama writes an empty one as null. */
export function entriesOf(list: unknown): readonly Entry[] {
  return objectsIn(list);
}
