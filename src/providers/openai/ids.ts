import { randomBytes } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** An id for an answer, in the way of OpenAI's chat completions. */
export function completionId(): string {
  return `chatcmpl-${randomName(28)}`;
}

/** An id for a tool call whose upstream gave it none: clients answer a call by its id. */
export function toolCallId(): string {
  return `call_${randomName(24)}`;
}

/** So many random letters and digits. `A` to `H` come a little more often: 256 is no multiple of 62. */
export function randomName(length: number): string {
  let name = '';
  for (const byte of randomBytes(length)) name += ALPHABET[byte % ALPHABET.length];
  return name;
}
