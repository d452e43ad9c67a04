import type { ProviderKind } from './kinds.ts';

/** A vendor with a wire format of its own, as data. The code that speaks it is in `src/providers`. */
export interface Vendor {
  readonly kind: Exclude<ProviderKind, 'openai'>;
  readonly label: string;
  /** Absent where the address follows from a setting. */
  readonly baseUrl?: string;
  /** The environment variables that may hold the key, the first one that is set wins. */
  readonly keys: readonly string[];
  /** Whether calls without a key are refused. Default: true. */
  readonly needsKey?: boolean;
  /** What switches it on: its key in the environment (the default), or only the configuration file. */
  readonly activation?: 'key' | 'configured';
  /** The header that carries the key; `authorization`: as a Bearer token. */
  readonly keyHeader: string;
  /** Settings beside key and address: the variables that may hold each, and what it is without them. */
  readonly settings?: Readonly<Record<string, { readonly variables: readonly string[]; readonly otherwise: string }>>;
  /** As in the rows of upstreams. */
  readonly quotaPath?: string;
  readonly url: string;
  readonly loginUrl?: string;
  /** Its names in the catalogue of prices and in OpenTelemetry's conventions, as in the rows of upstreams. */
  readonly pricedAs?: string;
  readonly otelName?: string;
}

/** By provider id. */
export const vendors: Readonly<Record<string, Vendor>> = {
  anthropic: {
    kind: 'anthropic',
    label: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keys: ['ANTHROPIC_API_KEY'],
    keyHeader: 'x-api-key',
    url: 'https://www.anthropic.com',
    loginUrl: 'https://console.anthropic.com/settings/keys',
    pricedAs: 'anthropic',
  },
  gemini: {
    kind: 'google',
    label: 'Google Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keys: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_API_KEY'],
    keyHeader: 'x-goog-api-key',
    url: 'https://ai.google.dev',
    loginUrl: 'https://aistudio.google.com/apikey',
    pricedAs: 'google',
    otelName: 'gcp.gemini',
  },
  bedrock: {
    kind: 'bedrock',
    label: 'Amazon Bedrock',
    keys: ['AWS_BEARER_TOKEN_BEDROCK'],
    keyHeader: 'authorization',
    settings: { region: { variables: ['AWS_REGION', 'AWS_DEFAULT_REGION'], otherwise: 'us-east-1' } },
    url: 'https://aws.amazon.com/bedrock/',
    loginUrl: 'https://console.aws.amazon.com/bedrock/home#/api-keys',
    pricedAs: 'aws',
    otelName: 'aws.bedrock',
  },
  // From here on vendors that only speak. Their libraries place the key themselves.
  elevenlabs: {
    kind: 'elevenlabs',
    label: 'ElevenLabs',
    baseUrl: 'https://api.elevenlabs.io',
    keys: ['ELEVENLABS_API_KEY'],
    keyHeader: 'xi-api-key',
    quotaPath: '/v1/user/subscription',
    url: 'https://elevenlabs.io',
    loginUrl: 'https://elevenlabs.io/app/settings/api-keys',
  },
  deepgram: {
    kind: 'deepgram',
    label: 'Deepgram',
    baseUrl: 'https://api.deepgram.com',
    keys: ['DEEPGRAM_API_KEY'],
    keyHeader: 'authorization',
    url: 'https://deepgram.com',
    loginUrl: 'https://console.deepgram.com',
  },
  lmnt: {
    kind: 'lmnt',
    label: 'LMNT',
    baseUrl: 'https://api.lmnt.com',
    keys: ['LMNT_API_KEY'],
    keyHeader: 'x-api-key',
    url: 'https://www.lmnt.com',
    loginUrl: 'https://app.lmnt.com/account',
  },
  hume: {
    kind: 'hume',
    label: 'Hume',
    baseUrl: 'https://api.hume.ai',
    keys: ['HUME_API_KEY'],
    keyHeader: 'x-hume-api-key',
    url: 'https://www.hume.ai',
    loginUrl: 'https://platform.hume.ai/settings/keys',
  },
  // This one only listens.
  assemblyai: {
    kind: 'assemblyai',
    label: 'AssemblyAI',
    baseUrl: 'https://api.assemblyai.com',
    keys: ['ASSEMBLYAI_API_KEY'],
    keyHeader: 'authorization',
    url: 'https://www.assemblyai.com',
    loginUrl: 'https://www.assemblyai.com/dashboard/api-keys',
  },
  // From here on those that only draw.
  fal: {
    kind: 'fal',
    label: 'fal',
    baseUrl: 'https://queue.fal.run',
    keys: ['FAL_KEY', 'FAL_API_KEY'],
    keyHeader: 'authorization',
    url: 'https://fal.ai',
    loginUrl: 'https://fal.ai/dashboard/keys',
  },
  replicate: {
    kind: 'replicate',
    label: 'Replicate',
    baseUrl: 'https://api.replicate.com/v1',
    keys: ['REPLICATE_API_TOKEN'],
    keyHeader: 'authorization',
    url: 'https://replicate.com',
    loginUrl: 'https://replicate.com/account/api-tokens',
  },
  luma: {
    kind: 'luma',
    label: 'Luma',
    baseUrl: 'https://api.lumalabs.ai',
    keys: ['LUMA_API_KEY'],
    keyHeader: 'authorization',
    quotaPath: '/dream-machine/v1/credits',
    url: 'https://lumalabs.ai',
    loginUrl: 'https://lumalabs.ai/dream-machine/api/keys',
  },
  stability: {
    kind: 'stability',
    label: 'Stability AI',
    baseUrl: 'https://api.stability.ai',
    keys: ['STABILITY_API_KEY'],
    keyHeader: 'authorization',
    quotaPath: '/v1/user/balance',
    url: 'https://stability.ai',
    loginUrl: 'https://platform.stability.ai/account/keys',
  },
  automatic1111: {
    kind: 'automatic1111',
    label: 'AUTOMATIC1111',
    baseUrl: 'http://127.0.0.1:7860',
    keys: [],
    needsKey: false,
    activation: 'configured',
    keyHeader: 'authorization',
    url: 'https://github.com/AUTOMATIC1111/stable-diffusion-webui',
  },
  comfyui: {
    kind: 'comfyui',
    label: 'ComfyUI',
    baseUrl: 'http://127.0.0.1:8188',
    keys: [],
    needsKey: false,
    activation: 'configured',
    keyHeader: 'authorization',
    url: 'https://www.comfy.org',
  },
};
