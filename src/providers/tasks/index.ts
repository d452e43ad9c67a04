import type { ProviderConfig } from '../../config/config.ts';
import type { Provider } from '../../core/provider.ts';
import { embedByRelay } from './embed.ts';
import { completeByRelay, moderateByRelay } from './json.ts';
import type { TaskUpstream } from './post.ts';
import { rerankByCohere, rerankByRelay, rerankByVoyage } from './rerank.ts';
import { transcribeByRelay } from './transcribe.ts';
import { embedByCohere, embedByVoyage } from './vendor-embed.ts';

type Tasks = Pick<Provider, 'transcribe' | 'embed' | 'moderate' | 'rerank' | 'complete'>;

/** Vendors that speak OpenAI's format in part, by the setting `tasks`: what they do in words of their own. */
const DIALECTS: Readonly<Record<string, (upstream: TaskUpstream) => Tasks>> = {
  cohere: (upstream) => ({ embed: embedByCohere(upstream), rerank: rerankByCohere(upstream) }),
  voyage: (upstream) => ({ embed: embedByVoyage(upstream), rerank: rerankByVoyage(upstream) }),
};

/**
 * The same provider, with everything that upstreams of the OpenAI wire format can do beside chats. Whether this one can is known
 * when it is asked: it says `not_supported` then.
 */
export function withOpenAiTasks(
  provider: Provider,
  { settings }: Pick<ProviderConfig, 'settings'>,
  deps: Pick<TaskUpstream, 'client' | 'limits'>,
): Provider {
  const { relay } = provider;
  if (relay === undefined) return provider;
  const upstream = { ...deps, provider, relay };
  const name = settings['tasks'] ?? '';
  const tasks: Tasks = {
    transcribe: transcribeByRelay(upstream),
    embed: embedByRelay(upstream),
    moderate: moderateByRelay(upstream),
    rerank: rerankByRelay(upstream),
    complete: completeByRelay(upstream),
    ...(Object.hasOwn(DIALECTS, name) ? DIALECTS[name]?.(upstream) : {}),
  };
  return Object.assign(provider, tasks);
}
