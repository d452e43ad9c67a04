import { type ChatRequest, THINKING_BUDGET } from '../../core/chat.ts';

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
/** Anthropic's least. */
const CLAUDE: BudgetRange = { least: 1_024, most: Number.MAX_SAFE_INTEGER };

/**
 * A request as the libraries of Claude's vendors take it: they add the tokens for thoughts to those of the answer, while
 * clients count them among these.
 */
export function withClaudeBudget(request: ChatRequest): ChatRequest {
  const { thinkingTokens, ...sampling } = request.sampling;
  if (thinkingTokens === undefined) return request;
  const { maxTokens } = sampling;
  const isTaken = COUNTS_THOUGHTS.test(request.model) && (maxTokens === undefined || maxTokens > CLAUDE.least);
  const budget = isTaken ? budgetWithin({ thinkingTokens, ...sampling }, CLAUDE) : undefined;
  if (budget === undefined) return { ...request, sampling };
  const { [THINKING_BUDGET]: _, ...extra } = request.extra;
  const left = maxTokens === undefined ? {} : { maxTokens: maxTokens - budget };
  return { ...request, sampling: { ...sampling, ...left, thinkingTokens: budget }, extra };
}
