import type { CallScope } from '../core/call.ts';
import { SluiceError } from '../core/errors.ts';
import type { Answered, Question } from '../routing/router.ts';
import type { Deps } from './deps.ts';

/** Asks, and tells of lost fields in the client's own words, like `inNames`. */
export function answerIn(
  names: Readonly<Record<string, string>>,
  { router }: Pick<Deps, 'router'>,
  question: Question,
  call: CallScope,
): Promise<Answered> {
  return inNames(names, router.answer(question, call));
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

function nameIn(names: Readonly<Record<string, string>>, field: string): string {
  return (Object.hasOwn(names, field) ? names[field] : undefined) ?? field;
}
