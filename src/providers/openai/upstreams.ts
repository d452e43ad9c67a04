// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration fills in these placeholders, not JavaScript

/** A service that speaks the OpenAI wire format, as data: one row each, no code. */
export interface Upstream {
  /** The name people know it by. */
  readonly label: string;
  /**
   * Absolute address without a trailing slash, to which `/chat/completions` is added. `${VARIABLE}` stands for an
   * environment variable or setting of that name: the account or resource that is part of some addresses.
   */
  readonly baseUrl: string;
  /** The environment variable that holds the key and switches the provider on. */
  readonly key?: string;
  /** The header that carries the key. Default: `authorization`, as a Bearer token. */
  readonly keyHeader?: string;
  /** Whether calls without a key are refused. Default: true. */
  readonly needsKey?: boolean;
  /** Home page. */
  readonly url?: string;
  /** Where a person gets a key. */
  readonly loginUrl?: string;
  /** The models, where the upstream has no listing. */
  readonly models?: readonly string[];
  /** Path of the listing from the root of the same origin, where it is not `<baseUrl>/models`. May hold `${VARIABLE}`. */
  readonly modelsPath?: string;
  /** Used when a request names no model. Without it: the first chat model of the listing. */
  readonly defaultModel?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * What switches the provider on. `key`: its key in the environment. `configured`: only the configuration file, since
   * prompts must not go to a third party unasked. `local`: its presence on a loopback port. Default: `key`.
   */
  readonly activation?: 'key' | 'configured' | 'local';
  /** Whose words it uses for embeddings and rerankings, where they are not those of most. */
  readonly tasks?: 'cohere' | 'voyage';
  /** Whose words it uses for pictures, where they are not OpenAI's. */
  readonly images?: 'pollinations';
  /** Path, from the root of the same origin, at which its key is told what is left of the account, where that is documented. */
  readonly quotaPath?: string;
  /** The loopback ports on which a local server usually listens. */
  readonly ports?: readonly number[];
  /** Its name in the catalogue of prices (`@pydantic/genai-prices`). Without it: the catalogue is asked for the address. */
  readonly pricedAs?: string;
  /** Its name in OpenTelemetry's conventions for generative AI (v1.37), where it is not the id. */
  readonly otelName?: string;
}

/** All known upstreams. The row's key is the provider's id. A further service is one more row. */
export const upstreams = {
  openai: {
    label: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    key: 'OPENAI_API_KEY',
    url: 'https://openai.com',
    loginUrl: 'https://platform.openai.com/api-keys',
    defaultModel: 'gpt-6-luna',
    pricedAs: 'openai',
  },
  openrouter: {
    label: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    key: 'OPENROUTER_API_KEY',
    url: 'https://openrouter.ai',
    loginUrl: 'https://openrouter.ai/settings/keys',
    defaultModel: 'openrouter/auto',
    // `/api/v1/credits` wants another kind of key.
    quotaPath: '/api/v1/key',
    pricedAs: 'openrouter',
  },
  groq: {
    label: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    key: 'GROQ_API_KEY',
    url: 'https://groq.com',
    loginUrl: 'https://console.groq.com/keys',
    defaultModel: 'openai/gpt-oss-120b',
    pricedAs: 'groq',
  },
  together: {
    label: 'Together AI',
    baseUrl: 'https://api.together.xyz/v1',
    key: 'TOGETHER_API_KEY',
    url: 'https://www.together.ai',
    loginUrl: 'https://api.together.ai/settings/api-keys',
    pricedAs: 'together',
  },
  fireworks: {
    label: 'Fireworks AI',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    key: 'FIREWORKS_API_KEY',
    url: 'https://fireworks.ai',
    loginUrl: 'https://app.fireworks.ai/settings/users/api-keys',
    pricedAs: 'fireworks',
  },
  deepinfra: {
    label: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    key: 'DEEPINFRA_API_KEY',
    url: 'https://deepinfra.com',
    loginUrl: 'https://deepinfra.com/dash/api_keys',
  },
  deepseek: {
    label: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com/v1',
    key: 'DEEPSEEK_API_KEY',
    url: 'https://www.deepseek.com',
    loginUrl: 'https://platform.deepseek.com/api_keys',
    defaultModel: 'deepseek-flash',
    quotaPath: '/user/balance',
    pricedAs: 'deepseek',
  },
  mistral: {
    label: 'Mistral AI',
    baseUrl: 'https://api.mistral.ai/v1',
    key: 'MISTRAL_API_KEY',
    url: 'https://mistral.ai',
    loginUrl: 'https://console.mistral.ai/api-keys',
    defaultModel: 'mistral-small-latest',
    pricedAs: 'mistral',
    otelName: 'mistral_ai',
  },
  xai: {
    label: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    key: 'XAI_API_KEY',
    url: 'https://x.ai',
    loginUrl: 'https://console.x.ai',
    pricedAs: 'x-ai',
    otelName: 'x_ai',
  },
  cerebras: {
    label: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    key: 'CEREBRAS_API_KEY',
    url: 'https://www.cerebras.ai',
    loginUrl: 'https://cloud.cerebras.ai',
    defaultModel: 'gpt-oss-120b',
    pricedAs: 'cerebras',
  },
  // Announced to have moved to another wire format in September 2026; the row serves whoever still has access.
  perplexity: {
    label: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai',
    key: 'PERPLEXITY_API_KEY',
    url: 'https://www.perplexity.ai',
    loginUrl: 'https://www.perplexity.ai/settings/api',
    models: ['sonar', 'sonar-pro', 'sonar-reasoning-pro', 'sonar-deep-research'],
    defaultModel: 'sonar',
    pricedAs: 'perplexity',
  },
  nvidia: {
    label: 'NVIDIA NIM',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    key: 'NVIDIA_API_KEY',
    url: 'https://build.nvidia.com',
    loginUrl: 'https://build.nvidia.com/settings/api-keys',
  },
  // Announced to have ended in July 2026; the row serves whoever still has access.
  github: {
    label: 'GitHub Models',
    baseUrl: 'https://models.github.ai/inference',
    // Not GITHUB_TOKEN, which is in many environments for other purposes.
    key: 'GITHUB_MODELS_TOKEN',
    modelsPath: '/catalog/models',
    url: 'https://github.com/marketplace/models',
    loginUrl: 'https://github.com/settings/tokens',
  },
  huggingface: {
    label: 'Hugging Face',
    baseUrl: 'https://router.huggingface.co/v1',
    key: 'HF_TOKEN',
    url: 'https://huggingface.co',
    loginUrl: 'https://huggingface.co/settings/tokens',
  },
  cloudflare: {
    label: 'Cloudflare Workers AI',
    baseUrl: 'https://api.cloudflare.com/client/v4/accounts/${CLOUDFLARE_ACCOUNT_ID}/ai/v1',
    // Not CLOUDFLARE_API_TOKEN: that one deploys sites in many environments and mostly may not use Workers AI.
    key: 'CLOUDFLARE_API_KEY',
    url: 'https://developers.cloudflare.com/workers-ai/',
    loginUrl: 'https://dash.cloudflare.com/profile/api-tokens',
    modelsPath: '/client/v4/accounts/${CLOUDFLARE_ACCOUNT_ID}/ai/models/search?per_page=1000',
    pricedAs: 'cloudflare',
  },
  azure: {
    // Its listing names all models of the region; requests name a deployment, which only its owner knows. So whoever
    // uses it lists the deployments as `models` in the configuration.
    label: 'Azure OpenAI',
    baseUrl: 'https://${AZURE_OPENAI_RESOURCE_NAME}.openai.azure.com/openai/v1',
    key: 'AZURE_OPENAI_API_KEY',
    keyHeader: 'api-key',
    url: 'https://ai.azure.com',
    loginUrl: 'https://ai.azure.com',
    pricedAs: 'azure',
    otelName: 'azure.ai.openai',
  },
  moonshot: {
    label: 'Moonshot AI',
    baseUrl: 'https://api.moonshot.ai/v1',
    key: 'MOONSHOT_API_KEY',
    url: 'https://www.moonshot.ai',
    loginUrl: 'https://platform.moonshot.ai/console/api-keys',
    quotaPath: '/v1/users/me/balance',
    pricedAs: 'moonshotai',
  },
  zai: {
    label: 'Z.ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    key: 'ZAI_API_KEY',
    url: 'https://z.ai',
    loginUrl: 'https://z.ai/manage-apikey/apikey-list',
    pricedAs: 'zai',
  },
  sambanova: {
    label: 'SambaNova',
    baseUrl: 'https://api.sambanova.ai/v1',
    key: 'SAMBANOVA_API_KEY',
    url: 'https://sambanova.ai',
    loginUrl: 'https://cloud.sambanova.ai/apis',
  },
  nebius: {
    label: 'Nebius Token Factory',
    baseUrl: 'https://api.tokenfactory.nebius.com/v1',
    key: 'NEBIUS_API_KEY',
    url: 'https://nebius.com',
    loginUrl: 'https://tokenfactory.nebius.com',
  },
  vercel: {
    label: 'Vercel AI Gateway',
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
    key: 'AI_GATEWAY_API_KEY',
    url: 'https://vercel.com/ai-gateway',
    loginUrl: 'https://vercel.com/ai-gateway',
    quotaPath: '/v1/credits',
  },
  cohere: {
    // Chats as OpenAI's clients ask for them; embeddings and rerankings by its own API beside it.
    label: 'Cohere',
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    key: 'COHERE_API_KEY',
    modelsPath: '/v1/models?page_size=1000',
    tasks: 'cohere',
    url: 'https://cohere.com',
    loginUrl: 'https://dashboard.cohere.com/api-keys',
    pricedAs: 'cohere',
  },
  // These two embed and rerank, and do not chat.
  jina: {
    label: 'Jina AI',
    baseUrl: 'https://api.jina.ai/v1',
    key: 'JINA_API_KEY',
    models: ['jina-embeddings-v4', 'jina-embeddings-v3', 'jina-reranker-v3', 'jina-reranker-v2-base-multilingual'],
    url: 'https://jina.ai',
    loginUrl: 'https://jina.ai/api-dashboard',
  },
  voyage: {
    label: 'Voyage AI',
    baseUrl: 'https://api.voyageai.com/v1',
    key: 'VOYAGE_API_KEY',
    models: [
      'voyage-4',
      'voyage-4-large',
      'voyage-4-lite',
      'voyage-3.5',
      'voyage-code-3',
      'rerank-2.5',
      'rerank-2.5-lite',
    ],
    tasks: 'voyage',
    url: 'https://www.voyageai.com',
    loginUrl: 'https://dashboard.voyageai.com/organization/api-keys',
    pricedAs: 'voyageai',
  },
  pollinations: {
    label: 'Pollinations',
    baseUrl: 'https://gen.pollinations.ai/v1',
    key: 'POLLINATIONS_API_KEY',
    url: 'https://pollinations.ai',
    loginUrl: 'https://enter.pollinations.ai',
    images: 'pollinations',
  },
  ollama: {
    label: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    needsKey: false,
    url: 'https://ollama.com',
    activation: 'local',
    ports: [11434],
  },
  lmstudio: {
    label: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    needsKey: false,
    url: 'https://lmstudio.ai',
    activation: 'local',
    ports: [1234],
  },
  llamacpp: {
    label: 'llama.cpp',
    baseUrl: 'http://127.0.0.1:8080/v1',
    needsKey: false,
    url: 'https://github.com/ggml-org/llama.cpp',
    activation: 'local',
    ports: [8080],
  },
  vllm: {
    label: 'vLLM',
    baseUrl: 'http://127.0.0.1:8000/v1',
    needsKey: false,
    url: 'https://vllm.ai',
    activation: 'local',
    ports: [8000],
  },
  localai: {
    label: 'LocalAI',
    baseUrl: 'http://127.0.0.1:8080/v1',
    needsKey: false,
    url: 'https://localai.io',
    activation: 'local',
    ports: [8080],
  },
  sdcpp: {
    // Its server draws; it shares LM Studio's port, so it is on only where the configuration names it.
    label: 'stable-diffusion.cpp',
    baseUrl: 'http://127.0.0.1:1234/v1',
    needsKey: false,
    url: 'https://github.com/leejet/stable-diffusion.cpp',
    activation: 'local',
    ports: [1234],
  },
  jan: {
    label: 'Jan',
    baseUrl: 'http://127.0.0.1:1337/v1',
    // Jan asks for a key that its user chose; see `local.ts` for when it can be used without one.
    needsKey: false,
    url: 'https://jan.ai',
    activation: 'local',
    ports: [1337],
  },
} satisfies Record<string, Upstream>;

/** The ids of the rows. */
export type UpstreamId = keyof typeof upstreams;
