import type { WireChunk } from './chunks.ts';
import { EventDecoder } from './events.ts';
import { BACKEND, isAbort, postJson, RequestError, request } from './http.ts';

/** What one read brought, and the id of its last event where the server numbers them. */
export interface Arrived {
  readonly chunks: readonly WireChunk[];
  readonly lastEvent?: number;
}

/** An answer as it comes, from its beginning or from where it is taken up again. */
export interface AnswerStream {
  /** The name under which the server keeps the stream, if it does. */
  readonly id?: string;
  /** Throws RequestError with the code `cut` when the connection breaks off. */
  readonly arrivals: AsyncIterable<Arrived>;
}

/**
 * Silence of a stream for so long, in milliseconds: the network lets nothing through any more, of which nobody tells. The server
 * says something every 15 seconds by itself; where it is told to do so less often, more attempts than needed are all that comes of it.
 */
const SILENCE_MS = 60_000;

/** Asks for an answer. */
export async function converse(body: object, signal: AbortSignal): Promise<AnswerStream> {
  const headers = { accept: 'text/event-stream', ...labelOf(body) };
  const patience = patienceFor(signal);
  const options = { headers, signal: patience.signal };
  const response = await postJson(`${BACKEND}/conversation`, { ...body, resumable: true }, options);
  const id = response.headers.get('x-sluice-stream');
  // What is not kept has to be waited for: there is no way back to it.
  return id === null ? { arrivals: read(response) } : { id, arrivals: read(response, patience) };
}

/**
 * Records of usage name whoever asked, and more people may read those than may read what is remembered under the whole name.
 * So they get its first letters only.
 */
function labelOf({ user }: { readonly user?: unknown }): Readonly<Record<string, string>> {
  return typeof user === 'string' ? { 'x-user': user.slice(0, 8) } : {};
}

/** What came of a kept stream after the event `after`, and then what comes. */
export async function attach(id: string, after: number, signal: AbortSignal): Promise<AnswerStream> {
  const patience = patienceFor(signal);
  const path = `${BACKEND}/streams/${encodeURIComponent(id)}?after=${after}`;
  const options = { headers: { accept: 'text/event-stream' }, signal: patience.signal };
  const response = await patience.wait(request(path, options));
  return { id, arrivals: read(response, patience) };
}

/** Stops a kept stream on the server. */
export async function stopStream(id: string): Promise<void> {
  await request(`${BACKEND}/streams/${encodeURIComponent(id)}`, { method: 'DELETE', keepalive: true });
}

/** Waits for what comes from the server, but breaks it off after too much silence. */
interface Patience {
  /** For the request that is waited for. */
  readonly signal: AbortSignal;
  /** Throws RequestError with the code `cut` when nothing comes. */
  wait<Value>(coming: Promise<Value>): Promise<Value>;
}

function patienceFor(signal: AbortSignal): Patience {
  const silent = new AbortController();
  return {
    signal: AbortSignal.any([signal, silent.signal]),
    wait: async (coming) => {
      const timer = setTimeout(() => silent.abort(), SILENCE_MS);
      try {
        return await coming;
      } catch (thrown) {
        if (silent.signal.aborted && !signal.aborted) throw new RequestError({ message: '', code: 'cut' });
        throw thrown;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function* read(response: Response, patience?: Patience): AsyncGenerator<Arrived> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const decoder = new EventDecoder();
  try {
    for (;;) {
      const coming = reader.read().catch((error: unknown) => {
        if (isAbort(error)) throw error;
        throw new RequestError({ message: '', code: 'cut' });
      });
      const { done, value } = await (patience?.wait(coming) ?? coming);
      if (done) return;
      const events = decoder.take(value);
      if (events.length === 0) continue;
      const lastEvent = events.findLast(({ id }) => id !== undefined)?.id;
      const chunks = events.map(({ data }) => JSON.parse(data) as WireChunk);
      yield lastEvent === undefined ? { chunks } : { chunks, lastEvent };
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
