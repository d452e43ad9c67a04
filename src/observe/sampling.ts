import { isObject, membersOf } from '../core/objects.ts';

/**
 * Attributes of OpenTelemetry for what an answer shall be like, and the names that the formats have for each. Figures alone: stop words
 * are words of a client's.
 */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'gen_ai.request.max_tokens': [
    'max_completion_tokens',
    'max_tokens',
    'max_output_tokens',
    'maxOutputTokens',
    'num_predict',
  ],
  'gen_ai.request.temperature': ['temperature'],
  'gen_ai.request.top_p': ['top_p', 'topP'],
  'gen_ai.request.top_k': ['top_k', 'topK'],
  'gen_ai.request.frequency_penalty': ['frequency_penalty', 'frequencyPenalty'],
  'gen_ai.request.presence_penalty': ['presence_penalty', 'presencePenalty'],
  'gen_ai.request.seed': ['seed'],
  'gen_ai.request.choice.count': ['n', 'candidateCount'],
};

/** How a client wants its answer to be made; undefined where it says nothing of that. */
export function samplingOf(body: unknown): Readonly<Record<string, number>> | undefined {
  if (!isObject(body)) return undefined;
  // Gemini's and Ollama's formats have them in an object of their own.
  const said = { ...body, ...membersOf(body['generationConfig']), ...membersOf(body['options']) };
  const found = Object.entries(NAMES).flatMap(([attribute, names]) => {
    const value = names.map((name) => said[name]).find((each) => typeof each === 'number');
    return typeof value === 'number' ? [[attribute, value] as const] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
