import type { Sampling } from '../core/chat.ts';
import { nearestEffort } from '../providers/openai/efforts.ts';
import { capabilitiesOf } from '../providers/openai/models.ts';
import type { Target } from '../routing/select.ts';

/**
 * The sampling for one target. Models that do not think refuse a request with an effort, while clients of formats other than
 * OpenAI's only hoped for some thoughts, or for none; `isLost` says whether they hoped in vain.
 */
export function samplingFor(
  { reasoningEffort, ...sampling }: Sampling,
  { model }: Target,
): { readonly sampling: Sampling; readonly isLost: boolean } {
  if (reasoningEffort === undefined) return { sampling, isLost: false };
  if (capabilitiesOf(model).reasoning !== true) return { sampling, isLost: reasoningEffort !== 'none' };
  return { sampling: { ...sampling, reasoningEffort: nearestEffort(reasoningEffort, model) }, isLost: false };
}
