import type { Limits } from '../../config/config.ts';
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import type { UpstreamClient } from '../../outbound/upstream.ts';

/** What providers that draw are made with. */
export interface ImageProviderDeps {
  readonly client: UpstreamClient;
  readonly fetch: typeof fetch;
  /** For pictures of requests that come by address. */
  readonly guardedFetch: GuardedFetch;
  readonly limits: () => Limits;
  /** Whether no other process of ours asks the same upstreams. */
  readonly isAlone: boolean;
}
