import { SluiceError } from '../core/errors.ts';

/** In UTF-16 units, so at most 1,536 bytes: an index of any database takes that. */
const LONGEST = 512;

/**
 * Lets an id pass as it is. Ids are compared byte by byte, so every text is its own id, except what a database may change
 * on its way: NUL, and halves of surrogate pairs, which would all become the same replacement character.
 */
export function checkId(id: string): string {
  if (id === '' || id.length > LONGEST || id.includes('\0') || !id.isWellFormed()) {
    throw new SluiceError('invalid_request', `An id has 1 to ${LONGEST} characters of well-formed text.`);
  }
  return id;
}
