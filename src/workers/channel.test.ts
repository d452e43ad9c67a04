import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Channel } from './channel.ts';

test('whoever asks the other side hears that it has gone, before and after', async () => {
  const channel = new Channel(() => {});
  const asked = channel.ask('uploading', 'bucket');
  channel.close();
  for (const each of [asked, channel.ask('uploading', 'bucket')])
    await assert.rejects(each, { code: 'shutting_down', options: { retryAfter: 1 } });
  assert.equal(await channel.askBriefly('uploading', 'bucket', 1_000), undefined);
});
