import type { CallScope } from '../core/call.ts';
import { SluiceError } from '../core/errors.ts';
import type { Answered, Question } from '../routing/router.ts';
import type { Deps } from './deps.ts';
import type { WireChatFields } from './wire.ts';

/** Asks, and tells of lost fields in the client's own words, like `inNames`; without `names` they are OpenAI's. */
export function answerIn(
  names: Readonly<Record<string, string>> | undefined,
  { router }: Pick<Deps, 'router'>,
  question: Question,
  call: CallScope,
): Promise<Answered> {
  const answer = router.answer(question, call);
  return names === undefined ? answer : inNames(names, answer);
}

/**
 * Tells of the fields that an answer, or a refusal, lost in the client's own words: adapters call what every dialect has by
 * OpenAI's names. `names` leads from those to the dialect's.
 */
export async function inNames<T extends { readonly dropped: readonly string[] }>(
  names: Readonly<Record<string, string>>,
  answer: Promise<T>,
): Promise<T> {
  try {
    const answered = await answer;
    if (answered.dropped.length === 0) return answered;
    return { ...answered, dropped: answered.dropped.map((field) => nameIn(names, field)) };
  } catch (thrown) {
    if (!(thrown instanceof SluiceError)) throw thrown;
    const { param = '' } = thrown.options;
    const own = nameIn(names, param);
    if (own === param) throw thrown;
    throw new SluiceError(
      thrown.code,
      thrown.message.replace(`'${param}'`, () => `'${own}'`),
      {
        ...thrown.options,
        param: own,
      },
    );
  }
}

const OLDER_LIMIT = { max_completion_tokens: 'max_tokens' };
const NEWER_LIMIT = { max_tokens: 'max_completion_tokens' };

/** The limit of tokens has two names in chats, and adapters write either. Leads to the one that this client wrote, if it wrote one. */
export function limitNames({
  max_tokens: older,
  max_completion_tokens: newer,
}: Pick<WireChatFields, 'max_tokens' | 'max_completion_tokens'>): Readonly<Record<string, string>> | undefined {
  if ((older == null) === (newer == null)) return undefined;
  return newer == null ? OLDER_LIMIT : NEWER_LIMIT;
}

function nameIn(names: Readonly<Record<string, string>>, field: string): string {
  return (Object.hasOwn(names, field) ? names[field] : undefined) ?? field;
}
