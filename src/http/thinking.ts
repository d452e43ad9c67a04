import type { Sampling } from '../core/chat.ts';
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

/** OpenAI's models from before `none` and `xhigh` (https://platform.openai.com/docs/guides/reasoning), whoever serves them. */
const FEW_EFFORTS = /(?:^|\/)(?:o[1-9]|gpt-oss|gpt-5(?!\.\d))/i;
/** Those of them that know `minimal`. */
const MINIMAL = /(?:^|\/)gpt-5(?:-mini|-nano)?(?:$|-\d)/i;

/** An effort in a word that a model knows, for clients that did not write that word themselves. */
export function nearestEffort(effort: string, model: string): string {
  if (!FEW_EFFORTS.test(model)) return effort;
  if (effort === 'xhigh') return 'high';
  if (effort !== 'none') return effort;
  return MINIMAL.test(model) ? 'minimal' : 'low';
}
