import type { Sampling } from '../core/chat.ts';
import { capabilitiesOf } from '../providers/openai/models.ts';
import type { Target } from '../routing/select.ts';

/**
 * The sampling for one target. Models that do not think refuse a request with an effort, while clients of formats other than
 * OpenAI's only hoped for some thoughts, or for none; `isLost` says whether they hoped in vain.
 */
export function samplingFor(
  all: Sampling,
  { model }: Target,
): { readonly sampling: Sampling; readonly isLost: boolean } {
  const { reasoningEffort, thinkingTokens: _, ...sampling } = all;
  if (reasoningEffort === undefined || capabilitiesOf(model).reasoning === true)
    return { sampling: all, isLost: false };
  return { sampling, isLost: reasoningEffort !== 'none' };
}
