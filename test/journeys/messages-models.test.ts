import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { all, assertHolds, openWorld, type World } from './sdk-vendors.ts';

describe('models for Anthropic’s client', { timeout: 60_000 }, () => {
  let world: World;
  let client: Anthropic;
  before(async () => {
    world = await openWorld(
      'aliases: { claude-sonnet-4-6: [acme/test-model], claude-haiku-4-6: [claude/claude-sonnet-4-5] }',
    );
    client = new Anthropic({ baseURL: world.origin, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => world.close());

  test('are listed in Anthropic’s form for its clients, page by page, and in OpenAI’s for others', async () => {
    const list = await client.models.list();
    const ids = list.data.map((model) => model.id);
    assert.ok(ids.includes('claude-sonnet-4-6') && ids.includes('test-model') && ids.includes('gemini-2.5-flash'));
    assertHolds(
      list.data.find(({ id }) => id === 'claude-sonnet-4-5'),
      { type: 'model', display_name: 'Claude Sonnet 4.5', max_input_tokens: 200_000 },
    );
    for (const name of ['claude-sonnet-4-5', 'claude-haiku-4-6', 'gemini-2.5-flash']) {
      const model = await client.models.retrieve(name);
      assert.deepEqual(
        model,
        list.data.find(({ id }) => id === name),
      );
      assert.deepEqual([model.lifecycle, model.retires_at], ['active', null]);
      // Whatever the types of the library say is there.
      const { capabilities } = model;
      assert.deepEqual(capabilities?.image_input, { supported: true });
      assert.equal(capabilities.thinking.supported, true);
      assert.equal(capabilities.thinking.types.disabled.supported, true);
      assert.equal(capabilities.effort.medium.supported, true);
      assert.equal(capabilities.server_tools.code_execution.supported, false);
      assert.equal(capabilities.batch.supported, false);
      const isClaude = name.startsWith('claude');
      assert.equal(model.max_tokens, isClaude ? 64_000 : 65_536);
      assert.equal(capabilities.citations.supported, isClaude, 'as Anthropic says');
      assert.deepEqual(capabilities.thinking.types, {
        enabled: { supported: true },
        adaptive: { supported: !isClaude },
        disabled: { supported: true },
        between_tools: { supported: false },
      });
      assert.equal(model.created_at, isClaude ? '2025-09-29T00:00:00Z' : '1970-01-01T00:00:00Z');
    }
    const paged = await all(client.models.list({ limit: 2 }));
    assert.deepEqual(
      paged.map((model) => model.id),
      ids,
    );
    const [first = '', second = '', third = ''] = ids;
    const before = await client.models.list({ before_id: third, limit: 1 });
    assert.deepEqual([before.data.map(({ id }) => id), before.has_more], [[second], true]);
    assert.equal((await client.models.retrieve(first)).id, first);
    for (const name of ['acme/test-model', 'acme:test-model'])
      assert.equal((await client.models.retrieve(name)).id, 'test-model', 'by every name that a chat may use');
    await assert.rejects(client.models.retrieve('nothing'), (error) => {
      assert.ok(error instanceof Anthropic.NotFoundError);
      assertHolds(error.error, { type: 'error', error: { type: 'not_found_error', code: 'model_not_found' } });
      return true;
    });
    const plain = (await (await fetch(`${world.origin}/v1/models`)).json()) as { object: string };
    assert.equal(plain.object, 'list');
  });
});
