import type { CallScope } from '../core/call.ts';
import type { ChatRequest, WireFormat } from '../core/chat.ts';
import { SluiceError } from '../core/errors.ts';
import { uploadStep } from '../enrich/uploads.ts';
import { speaks } from '../providers/ai-sdk/native.ts';
import type { Asked, Performed } from '../routing/router.ts';
import type { Target } from '../routing/select.ts';
import type { Deps } from './deps.ts';
import { estimateTokens } from './tokens.ts';

/** How many tokens a prompt has. */
export interface Counted {
  readonly tokens: number;
  /** Counted here, since the upstream does not count. */
  readonly isEstimated: boolean;
}

/** A prompt as it was asked, and as one target gets it. */
export interface Countable extends Asked {
  readonly asked: ChatRequest;
  send(request: ChatRequest, target: Target): ChatRequest;
}

/**
 * Counts a prompt of a client of `format`: by the upstream where it speaks that format itself, else by an estimate. What steps
 * would add is not part of it. Nothing is lost by counting, so nothing is said of it.
 */
export async function countPrompt(
  format: WireFormat,
  question: Countable,
  call: CallScope,
  deps: Deps,
): Promise<Performed<Counted>> {
  // Files that were sent before are part of what was asked.
  const { request: asked } = await uploadStep(deps.uploads).enrich(question.asked, call);
  const counted = await deps.router.perform(question, call, async (target, scope): Promise<Counted> => {
    const { provider, model } = target;
    if (speaks(provider, format)) {
      try {
        const sent = { ...question.send(asked, target), model };
        return { tokens: await provider.countTokens(sent, scope), isEstimated: false };
      } catch (error) {
        // Whoever else serves this API may not serve its count.
        if (!(error instanceof SluiceError) || error.code !== 'model_not_found') throw error;
      }
    }
    return { tokens: await estimateTokens(asked), isEstimated: true };
  });
  return { ...counted, dropped: [] };
}
