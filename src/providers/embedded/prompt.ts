import type { ChatHistoryItem, ChatWrapper, LlamaModel, Token } from 'node-llama-cpp';
import { SluiceError } from '../../core/errors.ts';
import type { PastCall, Turn } from './protocol.ts';

/** A conversation as a model reads it, cut to what fits its context. Runs inside the engine. */
export interface Prompt {
  readonly history: ChatHistoryItem[];
  readonly tokens: Token[];
  /** Turns at the beginning that were left out. */
  readonly leftOut: number;
  /** Tokens left for the answer. */
  readonly room: number;
}

/** What a prompt has to leave room for. */
export interface PromptLimits {
  /** Tokens of prompt and answer together. */
  readonly contextLength: number;
  /** Tokens the client asked for at most. */
  readonly maxTokens: number | undefined;
}

/** The library shifts the context when it is this close to full; we end the answer before that. */
const MARGIN = 2;
/** Kept free for the answer when the client set no limit. */
const USUAL_ANSWER = 256;
/** No text that fits a context has more characters per token than this; longer texts are not even counted. */
const MOST_CHARACTERS_PER_TOKEN = 32;

/**
 * Leaves out the oldest turns until prompt and answer fit. System turns at the beginning stay, and so does everything
 * from the last user turn on; if these alone are too long, it throws `invalid_request` with the limit.
 */
export function fitPrompt(
  turns: readonly Turn[],
  model: LlamaModel,
  wrapper: ChatWrapper,
  limits: PromptLimits,
): Prompt {
  const { contextLength } = limits;
  const most = contextLength - MARGIN - 1;
  const comfortable = most - Math.min(limits.maxTokens ?? USUAL_ANSWER, Math.floor(contextLength / 4));
  const { fixed, places } = placesToCut(turns);

  const cutAt = (place: number): Prompt | undefined => {
    const kept = [...turns.slice(0, fixed), ...turns.slice(place)];
    if (kept.reduce((sum, turn) => sum + sizeOf(turn), 0) > contextLength * MOST_CHARACTERS_PER_TOKEN) return undefined;
    const history = kept.map(toHistoryItem);
    const { contextText } = wrapper.generateContextState({ chatHistory: withAnswer(history) });
    const tokens = contextText.tokenize(model.tokenizer);
    return { history, tokens, leftOut: place - fixed, room: contextLength - MARGIN - tokens.length };
  };

  const whole = cutAt(fixed);
  if (whole !== undefined && whole.tokens.length <= comfortable) return whole;
  // The more is left out, the shorter the prompt: a binary search for the first place that is late enough.
  let best: Prompt | undefined;
  for (let low = 0, high = places.length; low < high; ) {
    const middle = (low + high) >> 1;
    const prompt = cutAt(places[middle] ?? fixed);
    const fits = prompt !== undefined && prompt.tokens.length <= comfortable;
    if (fits) best = prompt;
    if (fits) high = middle;
    else low = middle + 1;
  }
  if (best !== undefined) return best;
  const shortest = cutAt(places.at(-1) ?? fixed);
  if (shortest === undefined || shortest.tokens.length > most) throw tooLong(shortest?.tokens.length, contextLength);
  return shortest;
}

/** `fixed`: the first turn after the system turns at the beginning. `places`: where the kept rest may begin instead. */
function placesToCut(turns: readonly Turn[]): { fixed: number; places: readonly number[] } {
  const firstOther = turns.findIndex((turn) => turn.role !== 'system');
  const fixed = firstOther === -1 ? turns.length : firstOther;
  return { fixed, places: turns.flatMap((turn, index) => (turn.role === 'user' && index > fixed ? [index] : [])) };
}

function toHistoryItem(turn: Turn): ChatHistoryItem {
  if (turn.role === 'assistant') return { type: 'model', response: turn.parts.map(toResponsePart) };
  return { type: turn.role, text: turn.text };
}

function toResponsePart(
  part: string | PastCall,
): string | { type: 'functionCall'; name: string; params: unknown; result: string } {
  if (typeof part === 'string') return part;
  return { type: 'functionCall', name: part.name, params: part.arguments, result: part.result };
}

/** The library adds the same empty answer before it renders, unless the client began the answer itself. */
function withAnswer(history: readonly ChatHistoryItem[]): readonly ChatHistoryItem[] {
  return history.at(-1)?.type === 'model' ? history : [...history, { type: 'model', response: [] }];
}

function sizeOf(turn: Turn): number {
  if (turn.role !== 'assistant') return turn.text.length;
  return turn.parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : part.result.length), 0);
}

function tooLong(tokens: number | undefined, contextLength: number): SluiceError {
  const size = tokens === undefined ? 'far more than that' : `${tokens} tokens`;
  return new SluiceError(
    'context_length_exceeded',
    `This model reads at most ${contextLength} tokens, prompt and answer together; the last message and the system messages alone are ${size}.`,
    { param: 'messages' },
  );
}
