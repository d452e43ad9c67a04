import type { ProviderConfig } from '../../config/config.ts';
import type { ChatRequest } from '../../core/chat.ts';
import { SluiceError } from '../../core/errors.ts';
import { Opened, WithFirst } from '../../core/opened.ts';
import type { Detours, Provider } from '../../core/provider.ts';
import type { VendorDeps } from '../ai-sdk/adapter.ts';
import { type NativeProvider, speaks } from '../ai-sdk/native.ts';
import { openaiResponses } from '../ai-sdk/openai-responses.ts';
import { runsHostedTools } from '../ai-sdk/responses-native.ts';

/** Models that are remembered. */
const MOST_MODELS = 1_000;

/** Which requests for a model go to the Responses API. */
type Refused = 'tools' | 'all';

/**
 * The same provider, which asks the Responses API of its upstream where the client speaks that API and the upstream does so to the end,
 * and where the upstream says that it wants that: OpenAI refuses tools with reasoning on chat completions for its newer models, and has
 * models that are served there only. The refused request is asked again there, once, and the model remembered.
 */
export function withResponsesDetour(provider: Provider, config: ProviderConfig, deps: VendorDeps): Provider {
  const { chat: complete, relay } = provider;
  // Cookies are the chat completions' way in only.
  const isReachable = config.cookieDomain === undefined;
  if (complete === undefined || relay === undefined || !isReachable) return provider;
  const models = new Map<string, Refused>();
  const isOwnApi = runsHostedTools(config);
  let opened: Provider | undefined;

  const detours: Detours = {
    has: (model) => models.has(model),
    learn(model, failure) {
      const refused = refusedBy(failure);
      if (refused === undefined) return false;
      const [oldest] = models.keys();
      if (models.size >= MOST_MODELS && oldest !== undefined) models.delete(oldest);
      models.set(model, models.get(model) === 'all' ? 'all' : refused);
      return true;
    },
  };

  function responses(): Provider {
    opened ??= openaiResponses({ ...config, kind: 'openai-responses' }, deps);
    return opened;
  }

  function respond(...args: Parameters<NonNullable<Provider['chat']>>): ReturnType<NonNullable<Provider['chat']>> {
    const { chat } = responses();
    if (chat === undefined) throw new Error('the Responses API does not chat');
    return chat(...args);
  }

  function goesThere({ model, tools = [], format }: ChatRequest): boolean {
    if (isOwnApi && format === 'responses') return true;
    const refused = models.get(model);
    return refused === 'all' || (refused === 'tools' && tools.length > 0);
  }

  const detouring: Pick<Provider, 'chat' | 'relay'> = {
    // No generator: with paced streams every token would pass through it.
    chat: (request, call) =>
      new Opened(async () => {
        if (goesThere(request)) return respond(request, call)[Symbol.asyncIterator]();
        const answer = complete(request, call)[Symbol.asyncIterator]();
        try {
          // A refusal is a status, so nothing has come before it.
          return new WithFirst(await answer.next(), answer);
        } catch (error) {
          if (!(error instanceof SluiceError) || !detours.learn(request.model, error)) throw error;
          return respond(request, call)[Symbol.asyncIterator]();
        }
      }),
    relay: { ...relay, detours },
  };
  return Object.assign(provider, detouring, isOwnApi ? nativeOf(responses) : {});
}

/** What makes a provider one that speaks the Responses API to the end. */
function nativeOf(responses: () => Provider): Pick<NativeProvider, 'speaks' | 'countTokens' | 'compact'> {
  const native = (): NativeProvider => {
    const provider = responses();
    if (!speaks(provider, 'responses')) throw new Error('the Responses API is not spoken to the end');
    return provider;
  };
  return {
    speaks: 'responses',
    countTokens: (request, call) => native().countTokens(request, call),
    async compact(request, call) {
      const compacted = await native().compact?.(request, call);
      if (compacted === undefined) throw new Error('the Responses API compacts nothing');
      return compacted;
    },
  };
}

/** What a failure says about the Responses API, in words such as "To use function tools, use /v1/responses …". */
function refusedBy({ code, message }: SluiceError): Refused | undefined {
  if (code !== 'invalid_request' && code !== 'model_not_found') return undefined;
  if (!/\bv1\/responses\b/.test(message)) return undefined;
  return /\btools?\b/i.test(message) ? 'tools' : 'all';
}
