import type { ProviderConfig } from '../../config/config.ts';
import type { Provider } from '../../core/provider.ts';
import { withChatTranscription } from '../tasks/by-chat.ts';
import type { VendorDeps } from './adapter.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { google } from './google.ts';
import { openaiResponses } from './openai-responses.ts';

/** Vendors whose own wire format is spoken through their AI SDK library. The libraries load on first use. */
export const vendors = {
  anthropic,
  google: (config, deps) => withChatTranscription(google(config, deps), deps.limits),
  bedrock,
  'openai-responses': openaiResponses,
} satisfies Record<string, (config: ProviderConfig, deps: VendorDeps) => Provider>;
