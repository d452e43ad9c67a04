import { SluiceError } from '../../core/errors.ts';

/** Fields as providers call them → as clients of this format wrote them. */
const OWN_WORDS: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['reasoning_effort', 'reasoning.effort'],
  ['response_format', 'text.format'],
  ['signature', 'reasoning.encrypted_content'],
]);

/** A field's name in the words of the client. */
export function ownWord(field: string): string {
  return OWN_WORDS.get(field) ?? field;
}

/** The same error about the client's own fields. */
export function inOwnWords(error: unknown): unknown {
  if (!(error instanceof SluiceError) || error.code !== 'unsupported_field') return error;
  const { param } = error.options;
  if (param === undefined || ownWord(param) === param) return error;
  const message = error.message.replaceAll(`'${param}'`, `'${ownWord(param)}'`);
  return new SluiceError(error.code, message, { ...error.options, param: ownWord(param) });
}
