import assert from 'node:assert/strict';
import { type ErrorCode, SluiceError } from '../../src/core/errors.ts';

/** Fails unless the work ends with this error of the catalogue. */
export async function assertRefused(work: () => Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof SluiceError, `not one of ours: ${error}`);
    assert.equal(error.code, code);
    return true;
  });
}

/** Whether the store takes the id; it must refuse others as invalid. */
export async function takes(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.code === 'invalid_request', `not a clear refusal: ${error}`);
    return false;
  }
}

/** All of an iteration. */
export async function all<T>(things: AsyncIterable<T>): Promise<readonly T[]> {
  return await Array.fromAsync(things);
}
