import type { Agent } from 'undici';
import type { Limits } from '../config/config.ts';

/**
 * `fetch` for vendor libraries, on connections with our own settings: Node's built-in one gives up after 300 s of silence,
 * while deadlines are routing's business.
 */
export function createFetch(limits: () => Pick<Limits, 'connectMs' | 'upstreamKeepAliveMs'>): typeof fetch {
  let agent: Agent | undefined;
  return async (input, init) => {
    const undici = await import('undici');
    const { connectMs, upstreamKeepAliveMs } = limits();
    agent ??= new undici.Agent({
      connect: { timeout: connectMs },
      allowH2: false,
      keepAliveTimeout: upstreamKeepAliveMs,
      keepAliveMaxTimeout: upstreamKeepAliveMs,
      keepAliveTimeoutThreshold: 4_000,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    // The package's own types of fetch differ from Node's in names only.
    const run = undici.fetch as unknown as (input: unknown, init: unknown) => Promise<Response>;
    return run(input, { ...init, dispatcher: agent });
  };
}
