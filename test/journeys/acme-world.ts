import OpenAI from 'openai';
import type { Gateway } from '../support/gateway.ts';
import { startGatewayBefore } from './gateway-before.ts';

interface Upstream {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** A gateway before one upstream that speaks the OpenAI wire format, the provider `acme`. */
export interface AcmeWorld<Acme extends Upstream> {
  readonly gateway: Gateway;
  readonly upstream: Acme;
  readonly client: OpenAI;
  post(path: string, init: RequestInit): Promise<Told>;
  close(): Promise<void>;
}

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Beside `acme` there is one that only chats, and that nobody reaches. `more` stands behind the providers. */
export async function openAcme<Acme extends Upstream>(upstream: Acme, more: string): Promise<AcmeWorld<Acme>> {
  const { gateway, close } = await startGatewayBefore(
    [upstream],
    `
providers:
  acme: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: key-of-acme }
  claude: { kind: anthropic, baseUrl: 'http://127.0.0.1:9', apiKey: no-key, models: [claude-test] }
${more}`,
  );
  return {
    gateway,
    upstream,
    client: new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 }),
    async post(path, init) {
      const response = await fetch(gateway.origin + path, { method: 'POST', ...init });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    close,
  };
}
