import type { ProviderConfig } from '../../config/config.ts';
import type { Provider } from '../../core/provider.ts';
import type { VendorDeps } from './adapter.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { google } from './google.ts';

/** Vendors whose own wire format is spoken through their AI SDK library. The libraries load on first use. */
export const vendors = { anthropic, google, bedrock } satisfies Record<
  string,
  (config: ProviderConfig, deps: VendorDeps) => Provider
>;

export type { VendorDeps } from './adapter.ts';
