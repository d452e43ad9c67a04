import { SluiceError } from './errors.ts';

/** Passes over that something could not be stored; throws whatever else it is. */
export function onlyStorage(error: unknown): void {
  if (!(error instanceof SluiceError) || error.code !== 'storage_failed') throw error;
}

/**
 * Deletes what is known of bytes, and then the bytes. On a full disk these go first: they make the room that the end of the record
 * needs. Returns what the deletion of the record does.
 */
export async function deleteWithBytes<T>(record: () => Promise<T>, bytes: () => Promise<unknown>): Promise<T> {
  let deleted: T;
  try {
    deleted = await record();
  } catch (error) {
    onlyStorage(error);
    await bytes();
    return await record();
  }
  await bytes();
  return deleted;
}
