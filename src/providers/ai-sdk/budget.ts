import { type ChatRequest, THINKING_BUDGET } from '../../core/chat.ts';
import { membersOf } from '../../core/objects.ts';

/** How many tokens of thoughts a model can be given. */
export interface BudgetRange {
  readonly least: number;
  readonly most: number;
}

/** An effort → the part of an answer that its thoughts may take: what the libraries make of it. */
const SHARES: Readonly<Record<string, number>> = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.9 };

/**
 * The tokens for thoughts where they are among those of the answer: as many as the client says, or what its effort is worth of
 * the answer's limit. Of a limit that would leave no text, half remains for it. Undefined: the client says nothing of either.
 */
export function budgetWithin(
  { thinkingTokens, maxTokens, reasoningEffort: effort = '' }: ChatRequest['sampling'],
  { least, most }: BudgetRange,
): number | undefined {
  const share = Object.hasOwn(SHARES, effort) ? SHARES[effort] : undefined;
  const ofEffort = share === undefined || maxTokens === undefined ? undefined : Math.round(maxTokens * share);
  const wanted = thinkingTokens ?? ofEffort;
  if (wanted === undefined) return undefined;
  const room = maxTokens === undefined || wanted < maxTokens ? wanted : Math.floor(maxTokens / 2);
  return Math.min(most, Math.max(least, room));
}

/** Claude's models that take a number of tokens. Later ones decide by themselves, and know efforts. */
const COUNTS_THOUGHTS = /claude-(?:3-7-|(?:opus|sonnet|haiku)-4-(?:[0-5]\b|20\d{6}))/;
/** Models that know efforts, and take a number still. */
const TAKES_BOTH = /claude-(?:opus|sonnet)-4-6\b/;
/** Those of Claude's that answer less than 64,000 tokens, and what their vendor's library sends at most. */
const SHORTER_ANSWERS: readonly (readonly [RegExp, number])[] = [
  [/claude-opus-4-(?:[01]\b|20)/, 32_000],
  [/claude-3-7-/, 4_096],
];
/** Anthropic's least. */
const LEAST = 1_024;

/**
 * A request as the libraries of Claude's vendors take it: they add the tokens for thoughts to those of the answer, while
 * clients count them among these. Where these leave no room for thoughts, the model is not asked for any.
 *
 * @param countsThoughts whether a model that does not know efforts gets a number in their place
 */
export function withClaudeBudget(
  request: ChatRequest,
  drop: (field: string) => void,
  countsThoughts = (model: string): boolean => COUNTS_THOUGHTS.test(model),
): ChatRequest {
  const { thinkingTokens, ...sampling } = request.sampling;
  if (thinkingTokens !== undefined) {
    const counted = withTokens(request, thinkingTokens, COUNTS_THOUGHTS.test(request.model));
    // Without a number the effort that came with it counts, which has no more room.
    return counted.sampling.thinkingTokens === undefined ? withClaudeBudget(counted, drop, countsThoughts) : counted;
  }
  const { maxTokens, reasoningEffort: effort = '' } = sampling;
  if (maxTokens === undefined || !Object.hasOwn(SHARES, effort) || !countsThoughts(request.model)) return request;
  if (maxTokens >= 2 * LEAST) return withTokens(request, undefined, true);
  drop('reasoning_effort');
  const { reasoningEffort: _, ...rest } = sampling;
  return { ...request, sampling: rest };
}

/**
 * The same for Anthropic's library, which makes numbers of efforts also for models of others that serve this API, and takes the
 * client's own `thinking`.
 */
export function withAnthropicBudget(request: ChatRequest, drop: (field: string) => void): ChatRequest {
  const counts = (model: string): boolean => COUNTS_THOUGHTS.test(model) || !model.includes('claude-');
  const { thinking, ...extra } = request.extra;
  const { maxTokens, thinkingTokens, ...sampling } = request.sampling;
  const { type, budget_tokens: asked = LEAST } = membersOf(thinking);
  const isOwn = type === 'enabled' && typeof asked === 'number' && thinkingTokens === undefined;
  if (!isOwn || !(counts(request.model) || TAKES_BOTH.test(request.model)))
    return withClaudeBudget(request, drop, counts);
  if (maxTokens === undefined) return request;
  const { sampling: taken } = withTokens(request, asked, true);
  if (taken.thinkingTokens === undefined) {
    drop('thinking');
    return withClaudeBudget({ ...request, sampling: { ...sampling, maxTokens }, extra }, drop, counts);
  }
  const own = { ...membersOf(thinking), budget_tokens: taken.thinkingTokens };
  return { ...request, sampling: taken, extra: { ...extra, thinking: own } };
}

function withTokens(request: ChatRequest, asked: number | undefined, isTaken: boolean): ChatRequest {
  const { thinkingTokens: _, ...sampling } = request.sampling;
  const { maxTokens } = sampling;
  const hasRoom = isTaken && (maxTokens === undefined || maxTokens > LEAST);
  const budget = hasRoom ? budgetWithin(limited(request.model, sampling, asked), CLAUDE) : undefined;
  if (budget === undefined) return { ...request, sampling };
  const { [THINKING_BUDGET]: __, ...extra } = request.extra;
  const left = maxTokens === undefined ? {} : { maxTokens: maxTokens - budget };
  return { ...request, sampling: { ...sampling, ...left, thinkingTokens: budget }, extra };
}

const CLAUDE: BudgetRange = { least: LEAST, most: Number.MAX_SAFE_INTEGER };

/** What is asked of thoughts, in an answer that is no longer than the model's longest. */
function limited(model: string, sampling: ChatRequest['sampling'], asked: number | undefined): ChatRequest['sampling'] {
  const [, longest = 64_000] = SHORTER_ANSWERS.find(([name]) => name.test(model)) ?? [];
  const { maxTokens } = sampling;
  return {
    ...sampling,
    ...(maxTokens === undefined ? {} : { maxTokens: Math.min(maxTokens, longest) }),
    ...(asked === undefined ? {} : { thinkingTokens: asked }),
  };
}
