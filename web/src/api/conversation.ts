import type { WireChunk } from './chunks.ts';
import { EventDecoder } from './events.ts';
import { BACKEND, isAbort, postJson, RequestError, request } from './http.ts';

/** What one read brought, and the id of its last event where the server numbers them. */
export interface Arrived {
  readonly chunks: readonly WireChunk[];
  readonly lastEvent?: number;
}

export interface AnswerStream {
  /** The name under which the server keeps the stream, if it does. */
  readonly id?: string;
  /** Throws RequestError with the code `cut` when the connection breaks off. */
  readonly arrivals: AsyncIterable<Arrived>;
}

/** Asks for an answer. */
export async function converse(body: object, signal: AbortSignal): Promise<AnswerStream> {
  const headers = { accept: 'text/event-stream', ...labelOf(body) };
  const response = await postJson(`${BACKEND}/conversation`, { ...body, resumable: true }, { headers, signal });
  const id = response.headers.get('x-sluice-stream');
  return { arrivals: read(response), ...(id === null ? {} : { id }) };
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
  const response = await request(`${BACKEND}/streams/${encodeURIComponent(id)}?after=${after}`, {
    headers: { accept: 'text/event-stream' },
    signal,
  });
  return { id, arrivals: read(response) };
}

/** Stops a kept stream on the server. */
export async function stopStream(id: string): Promise<void> {
  await request(`${BACKEND}/streams/${encodeURIComponent(id)}`, { method: 'DELETE', keepalive: true });
}

async function* read(response: Response): AsyncGenerator<Arrived> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const decoder = new EventDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        if (isAbort(error)) throw error;
        throw new RequestError({ message: '', code: 'cut' });
      });
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
