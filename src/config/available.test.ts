import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadYaml, temporaryFolder } from '../../test/support/config-folder.ts';

test('known providers without a key are available to clients who bring one', async (context) => {
  const folder = temporaryFolder(context);
  const config = await loadYaml(folder, 'providers: { groq: { enabled: false } }', {
    environment: { OPENAI_API_KEY: 'sk-test-key' },
  });
  const available = config.available.map((entry) => entry.id);
  assert.deepEqual(
    config.providers.map((entry) => entry.id),
    ['openai'],
  );
  assert.ok(available.includes('anthropic') && available.includes('mistral'));
  // On already, switched off, keyless and remote, local, or without the account that its address needs.
  for (const id of ['openai', 'groq', 'ollama', 'cloudflare']) assert.ok(!available.includes(id), id);
  assert.ok(config.available.every((entry) => entry.apiKey === undefined && entry.needsKey));
});
