import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ErrorCode, SluiceError } from '../../core/errors.ts';
import { readInput } from './inputs.ts';

const ADDRESS = { url: 'https://pictures.example/a.png' };

function failing(code: ErrorCode) {
  return async () => {
    throw new SluiceError(code, 'Nothing came.');
  };
}

describe('a picture that a request names by its address', () => {
  for (const code of ['upstream_unreachable', 'upstream_failed', 'upstream_invalid', 'upstream_cut'] as const) {
    test(`${code}: the request is at fault, and no provider`, async () => {
      await assert.rejects(
        readInput(ADDRESS, failing(code), new AbortController().signal),
        (error) => error instanceof SluiceError && error.code === 'invalid_request' && error.options.param === 'image',
      );
    });
  }

  test('a call that ran out of time meanwhile says so', async () => {
    await assert.rejects(
      readInput(ADDRESS, failing('upstream_timeout'), AbortSignal.abort()),
      (error) => error instanceof SluiceError && error.code === 'upstream_timeout',
    );
  });
});
