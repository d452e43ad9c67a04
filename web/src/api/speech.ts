import { BACKEND, request } from './http.ts';

interface SpeechQuery {
  readonly provider: string;
  readonly voice?: string;
  readonly text: string;
  /** The person's own key for the provider. */
  readonly key?: string;
}

/** A text as sound. */
export async function synthesize({ provider, voice, text, key }: SpeechQuery, signal: AbortSignal): Promise<Blob> {
  const query = new URLSearchParams({ text, ...(voice === undefined ? {} : { voice }) });
  const address = `${BACKEND}/synthesize/${encodeURIComponent(provider)}?${query}`;
  const headers = key === undefined ? {} : { 'x-api-key': key };
  return (await request(address, { headers, signal })).blob();
}
