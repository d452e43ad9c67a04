/*
 * Models know functions only, by one name each and with JSON for arguments. The Responses API also has namespaces of functions, and
 * freeform tools (`type: custom`), which are called with a text. This is how both look to a model.
 */

/** What a model knows a tool by. */
export function modelName(name: string, namespace?: unknown): string {
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}__${name}` : name;
}

/** The arguments of the function that stands for a freeform tool: the text, as JSON writes it, is between these. */
export const FREEFORM_OPENING = '{"input":"';
/** What stands behind the text. */
export const FREEFORM_END = '"}';

/** The text of a freeform call → the arguments of the function that stands for it. */
export function asArguments(input: string): string {
  return FREEFORM_OPENING + withinQuotes(input) + FREEFORM_END;
}

/** A piece of a text as JSON writes it, without quotes. */
export function withinQuotes(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
