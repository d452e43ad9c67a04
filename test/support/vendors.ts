import type { ProviderConfig } from '../../src/config/config.ts';
import { defaultLimits } from '../../src/config/defaults.ts';
import type { Call } from '../../src/core/call.ts';
import type { ChatRequest } from '../../src/core/chat.ts';
import type { Batch, Chunk } from '../../src/core/chunk.ts';
import { SluiceError } from '../../src/core/errors.ts';
import type { Provider } from '../../src/core/provider.ts';
import { createUpstreamClient } from '../../src/outbound/upstream.ts';
import { vendors } from '../../src/providers/ai-sdk/index.ts';
import { startAnthropicUpstream } from './anthropic-upstream.ts';
import { startBedrockUpstream } from './bedrock-upstream.ts';
import { testCall, testLogger } from './call.ts';
import { startGeminiUpstream } from './gemini-upstream.ts';
import { providerConfig } from './provider-config.ts';
import { startResponsesUpstream } from './responses-upstream.ts';
import type { VendorScript } from './vendor-script.ts';
import type { VendorUpstream } from './vendor-server.ts';

export type VendorKind = keyof typeof vendors;

/** The vendors with a model of each that thinks and calls tools. */
export const VENDORS: readonly { readonly kind: VendorKind; readonly model: string }[] = [
  { kind: 'anthropic', model: 'claude-haiku-4-5' },
  { kind: 'google', model: 'gemini-2.5-flash' },
  { kind: 'bedrock', model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0' },
  { kind: 'openai-responses', model: 'gpt-5.2' },
];

const STARTS = {
  anthropic: startAnthropicUpstream,
  google: startGeminiUpstream,
  bedrock: startBedrockUpstream,
  'openai-responses': startResponsesUpstream,
};

export interface VendorSetup extends AsyncDisposable {
  readonly upstream: VendorUpstream;
  readonly provider: Provider;
  chat(request: ChatRequest, call?: Call): AsyncIterator<Batch> & AsyncIterable<Batch>;
}

/** A scripted upstream and the provider that talks to it. Closed by `await using`. */
export async function openVendor(
  kind: VendorKind,
  script: VendorScript,
  fields: Partial<ProviderConfig> = {},
): Promise<VendorSetup> {
  const upstream = await STARTS[kind](script);
  const config = providerConfig({ kind, label: 'Acme', baseUrl: upstream.baseUrl, ...fields });
  const provider = vendors[kind](config, {
    client: createUpstreamClient(() => defaultLimits),
    limits: () => defaultLimits,
    log: testLogger(),
  });
  const defaultModel = VENDORS.find((vendor) => vendor.kind === kind)?.model ?? '';
  return {
    upstream,
    provider,
    chat(request, call = testCall()) {
      const model = request.model === 'test-model' ? defaultModel : request.model;
      const batches = provider.chat?.({ ...request, model }, call);
      if (batches === undefined) throw new Error('the provider does not chat');
      return batches as AsyncIterator<Batch> & AsyncIterable<Batch>;
    },
    [Symbol.asyncDispose]: () => upstream.close(),
  };
}

export async function allChunks(batches: AsyncIterable<Batch>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const batch of batches) chunks.push(...batch);
  return chunks;
}

/** What came before a failure, and the failure. */
export async function untilFailure(batches: AsyncIterable<Batch>): Promise<{ chunks: Chunk[]; error: SluiceError }> {
  const chunks: Chunk[] = [];
  try {
    for await (const batch of batches) chunks.push(...batch);
  } catch (error) {
    if (error instanceof SluiceError) return { chunks, error };
    throw error;
  }
  throw new Error('the answer did not fail');
}

export function contentOf(chunks: readonly Chunk[]): string {
  return chunks.map((chunk) => (chunk.type === 'content' ? chunk.content : '')).join('');
}

export function reasoningOf(chunks: readonly Chunk[]): string {
  return chunks.map((chunk) => (chunk.type === 'reasoning' ? chunk.reasoning : '')).join('');
}

export function finishOf(chunks: readonly Chunk[]): string | undefined {
  const last = chunks.at(-1);
  return last?.type === 'finish' ? last.finish : undefined;
}
