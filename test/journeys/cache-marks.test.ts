import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { toFile } from 'openai';
import { elements, member } from '../support/vendor-server.ts';
import { png } from './kept-files-world.ts';
import { postJson, upload } from './kept-world.ts';
import { openWorld, type World } from './responses-world.ts';

const CACHED = { cache_control: { type: 'ephemeral' } };
const QUESTION = { type: 'text', text: 'What do they say?' };

describe('a prompt cache that ends with what is kept here', { timeout: 60_000 }, () => {
  let world: World;
  let fileId: string;
  before(async () => {
    world = await openWorld();
    await upload(world.gateway, 'rules', ['rules.txt', 'Many rules.'], ['rules.png', await png(20, 20)]);
    const file = await toFile(Buffer.from('Many rules.'), 'rules.txt');
    ({ id: fileId } = await world.client.files.create({ file, purpose: 'user_data' }));
  });
  after(() => world.close());

  async function asked(path: string, model: string, message: object): Promise<string | null> {
    const body = { model, max_tokens: 100, messages: [message] };
    const answer = await postJson(`${world.gateway.origin}${path}`, body, { 'anthropic-version': '2023-06-01' });
    assert.equal(answer.status, 200, await answer.text());
    return answer.headers.get('x-sluice-dropped');
  }

  const OF_BUCKETS = [{ bucket_id: 'rules' }, { bucket_id: 'rules', name: 'rules.png' }];
  const PICTURE = '/files/rules/media/rules.png';
  const PARTS: Readonly<Record<string, () => readonly object[]>> = {
    '/v1/chat/completions': () => [
      ...OF_BUCKETS,
      { type: 'image_url', image_url: { url: PICTURE } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'file', file: { file_id: fileId } },
    ],
    '/v1/messages': () => [
      ...OF_BUCKETS,
      { type: 'image', source: { type: 'url', url: PICTURE } },
      { type: 'document', source: { type: 'file', file_id: fileId } },
    ],
  };

  for (const [path, parts] of Object.entries(PARTS)) {
    test(`reaches Anthropic from ${path}`, async () => {
      const claude = world.seat('anthropic');
      for (const part of parts()) {
        const content = [{ ...part, ...CACHED }, QUESTION];
        assert.equal(await asked(path, claude.model, { role: 'user', content }), null);
        const marks = elements(member(claude.last.body, 'messages', 0, 'content')).map((block) =>
          member(block, 'cache_control'),
        );
        assert.deepEqual(marks, [CACHED.cache_control, undefined], JSON.stringify(part));
      }
    });

    test(`is told of as lost where there is none, from ${path}`, async () => {
      for (const part of parts()) {
        const content = [{ ...part, ...CACHED }, QUESTION];
        const dropped = await asked(path, world.seat('google').model, { role: 'user', content });
        assert.equal(dropped, 'cache_control', JSON.stringify(part));
      }
    });
  }
});
