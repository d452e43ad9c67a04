import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { testCall } from '../../test/support/call.ts';
import { chatRequest } from '../../test/support/chat-request.ts';
import { temporaryStores } from '../../test/support/stores.ts';
import type { ChatRequest } from '../core/chat.ts';
import { SluiceError } from '../core/errors.ts';
import { uploadAddress } from '../core/upload-address.ts';
import type { Converter } from '../documents/converter.ts';
import { Uploads } from '../uploads/uploads.ts';
import { uploadStep } from './uploads.ts';

/** The step before a converter, and a request that speaks so many times of one document. */
async function world(context: TestContext, convert: Converter['convert'], times: number) {
  const { uploads: records, files } = temporaryStores(context);
  const uploads = new Uploads({ records, files, converter: { convert }, owner: () => null });
  const about = { name: 'a.docx', mimeType: 'application/octet-stream', purpose: 'user_data' };
  const { id } = await uploads.add({ ...about, bytes: Buffer.from('PK') });
  const part = { type: 'media', kind: 'file', url: uploadAddress(id) } as const;
  const request: ChatRequest = chatRequest([{ role: 'user', content: Array(times).fill(part) }]);
  return { step: uploadStep(uploads), request };
}

describe('documents of a request', () => {
  test('that cannot be read are tried once, however often it speaks of them', async (context) => {
    let tried = 0;
    const convert = async () => {
      tried += 1;
      return { kind: 'rejected', reason: 'takes too long' } as const;
    };
    const { step, request } = await world(context, convert, 5);
    const enriched = await step.enrich(request, testCall());
    const [first, ...others] = enriched.request.messages[0]?.content ?? [];
    assert.match(first?.type === 'media' ? first.url : '', /^data:application\/octet-stream;base64,UEs=$/);
    assert.equal(others.length, 4);
    assert.equal(tried, 1);
  });

  test('are not read any further for a client that has left', async (context) => {
    const call = testCall();
    const convert: Converter['convert'] = (_, { signal } = {}) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        call.cancel(new SluiceError('cancelled', 'the client left'));
        if (signal === undefined) reject(new Error('nobody would end it'));
      });
    const { step, request } = await world(context, convert, 1);
    await assert.rejects(async () => step.enrich(request, call), /the client left/);
    // Nor is the next one begun.
    const next = await world(context, async () => assert.fail(), 1);
    await assert.rejects(async () => next.step.enrich(next.request, call), /the client left/);
  });
});
