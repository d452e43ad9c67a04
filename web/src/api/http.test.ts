import assert from 'node:assert/strict';
import { afterEach, describe, mock, test } from 'node:test';
import { deleteBucket } from './files.ts';
import { RequestError } from './http.ts';
import { deleteMedia } from './media.ts';

function answerWith(status: number): void {
  mock.method(globalThis, 'fetch', async () => Response.json({ error: { message: 'no', code: 'c' } }, { status }));
}

describe('what is deleted on the server', () => {
  afterEach(() => mock.restoreAll());

  for (const [name, remove] of [
    ['a bucket', () => deleteBucket('b')],
    ['a file of an answer', () => deleteMedia('m.png')],
  ] as const) {
    test(`is as good as deleted where ${name} is not there any more`, async () => {
      answerWith(404);
      await remove();
    });

    test(`is still there where the server fails to delete ${name}`, async () => {
      answerWith(500);
      await assert.rejects(remove(), RequestError);
    });
  }
});
