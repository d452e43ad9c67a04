import OpenAI from 'openai';
import { type Gateway, startGateway } from '../support/gateway.ts';
import {
  type ListeningScript,
  type ListeningUpstream,
  silence,
  startListeningUpstream,
} from '../support/listening-upstream.ts';

export interface World {
  readonly gateway: Gateway;
  readonly upstream: ListeningUpstream;
  readonly client: OpenAI;
  post(fields: Fields, path?: string): Promise<{ status: number; headers: Headers; text: string }>;
  close(): Promise<void>;
}

export type Fields = Readonly<Record<string, string | Blob | readonly string[]>>;

export const WAV = silence();

export function wav(): Blob {
  return new Blob([new Uint8Array(WAV)], { type: 'audio/wav' });
}

export async function world(script?: ListeningScript, more = ''): Promise<World> {
  const upstream = await startListeningUpstream(script);
  const gateway = await startGateway(`
providers:
  acme: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: key-of-acme }
  claude: { kind: anthropic, baseUrl: 'http://127.0.0.1:9', apiKey: no-key, models: [claude-test] }
${more}`);
  return {
    gateway,
    upstream,
    client: new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 }),
    async post(fields, path = '/v1/audio/transcriptions') {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) {
        for (const each of Array.isArray(value) ? value : [value]) {
          if (typeof each === 'string') body.append(name, each);
          else body.append(name, each as Blob, 'anything.wav');
        }
      }
      const response = await fetch(gateway.origin + path, { method: 'POST', body });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}

export async function usageLines({ gateway }: World): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 100));
  const day = new Date().toISOString().slice(0, 10);
  const response = await fetch(`${gateway.origin}/backend-api/v2/usage/${day}`);
  return response.ok ? (await response.text()).split('\n').filter((line) => line !== '').length : 0;
}
