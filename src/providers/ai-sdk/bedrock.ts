import type { Model } from '../../core/model.ts';
import { lostCacheMarks, lostDetail, lostErrors, lostOneCall, lostThoughts } from '../lost.ts';
import { fromAiSdk } from './adapter.ts';
import { withClaudeBudget } from './budget.ts';
import type { Connection, Settings } from './connection.ts';
import { lostEffort } from './options.ts';

/**
 * Amazon Bedrock's Converse API, with a bearer key (`AWS_BEARER_TOKEN_BEDROCK`) or, signed, with the settings
 * `accessKeyId`, `secretAccessKey` and perhaps `sessionToken`. Setting `region`: default `us-east-1`.
 */
export const bedrock = fromAiSdk({
  baseUrl: (settings) => `https://bedrock-runtime.${region(settings)}.amazonaws.com`,
  secretSettings: ['accessKeyId', 'secretAccessKey', 'sessionToken'],
  lost: (request) => [
    ...lostCacheMarks(request),
    ...lostDetail(request),
    ...lostErrors(request),
    ...lostOneCall(request),
    ...lostThoughts(request, 'bedrock', 'amazonBedrock'),
    ...lostEffort(request),
  ],
  effort: (word, model) => (word === 'none' && ALWAYS_THINKS.test(model) ? 'low' : word),

  taken: (request, drop) => withClaudeBudget(request, drop),
  options({ sampling: { thinkingTokens: budgetTokens } }) {
    return budgetTokens === undefined ? {} : { amazonBedrock: { reasoningConfig: { type: 'enabled', budgetTokens } } };
  },

  async open(connection) {
    const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
    return createAmazonBedrock(toSettings(connection));
  },

  embeddings: {
    perRequest: (model) => (model.includes('cohere.embed-') ? 96 : 1),
    async open(connection) {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock(toSettings(connection)).embeddingModel;
    },
    options({ dimensions, extra, model }, drop) {
      const { input_type: inputType, truncate, normalize, ...others } = extra;
      for (const field of Object.keys(others)) drop(field);
      return {
        amazonBedrock: {
          ...(dimensions === undefined ? {} : { [dimensionsOf(model)]: dimensions }),
          // To be searched for, unless the client says otherwise, as at Cohere itself.
          ...(model.includes('cohere.')
            ? { inputType: typeof inputType === 'string' ? inputType : 'search_document' }
            : {}),
          ...(typeof truncate === 'string' ? { truncate } : {}),
          ...(typeof normalize === 'boolean' ? { normalize } : {}),
        },
      };
    },
  },

  // Asking for the models takes another, signed API; these are in every account's reach. Any other name works too.
  models(settings) {
    const claude = { vision: true, tools: true, reasoning: true, contextLength: 200_000 };
    const nova = { vision: true, tools: true, contextLength: 300_000 };
    const profile = inferenceProfile(region(settings));
    return [
      { id: `${profile}anthropic.claude-sonnet-4-5-20250929-v1:0`, label: 'Claude Sonnet 4.5', ...claude },
      { id: `${profile}anthropic.claude-haiku-4-5-20251001-v1:0`, label: 'Claude Haiku 4.5', ...claude },
      { id: `${profile}anthropic.claude-opus-4-5-20251101-v1:0`, label: 'Claude Opus 4.5', ...claude },
      { id: `${profile}amazon.nova-pro-v1:0`, label: 'Nova Pro', ...nova },
      { id: `${profile}amazon.nova-lite-v1:0`, label: 'Nova Lite', ...nova },
      { id: `${profile}amazon.nova-micro-v1:0`, label: 'Nova Micro', tools: true, contextLength: 128_000 },
      { id: 'amazon.titan-embed-text-v2:0', label: 'Titan Text Embeddings V2', type: 'embedding' },
      { id: 'cohere.embed-v4:0', label: 'Cohere Embed 4', type: 'embedding' },
      { id: 'openai.gpt-oss-120b-1:0', label: 'gpt-oss 120B', tools: true, reasoning: true, contextLength: 128_000 },
    ] satisfies Model[];
  },
});

/** Models that cannot be told not to think. */
const ALWAYS_THINKS = /gpt-oss|claude-(?:opus-5-5|sonnet-5-5|fable-5)/;

/** The library's settings. */
function toSettings({ baseUrl: baseURL, apiKey, headers, settings, fetch }: Connection) {
  const { accessKeyId = '', secretAccessKey = '', sessionToken = '' } = settings;
  const session = sessionToken === '' ? {} : { sessionToken };
  return { baseURL, region: region(settings), apiKey, accessKeyId, secretAccessKey, ...session, headers, fetch };
}

/** What each family of models calls the number of dimensions. */
function dimensionsOf(model: string): string {
  if (model.includes('cohere.')) return 'outputDimension';
  return model.includes('nova') ? 'embeddingDimension' : 'dimensions';
}

function region(settings: Settings): string {
  return settings['region'] ?? 'us-east-1';
}

/** Newer models answer only through a profile that spans the regions of a continent, named by this prefix. */
function inferenceProfile(name: string): string {
  if (name.startsWith('us-gov-')) return 'us-gov.';
  if (name.startsWith('us-')) return 'us.';
  if (name.startsWith('eu-')) return 'eu.';
  if (name.startsWith('ap-')) return 'apac.';
  return 'global.';
}
