import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';

describe('a file of the models folder that is no model', { timeout: 120_000 }, () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway('embedded: { enabled: true, modelsDir: models, threads: 1 }');
    const folder = path.join(gateway.folder, 'models');
    mkdirSync(folder, { recursive: true });
    for (const id of ['broken', 'broken-embed']) writeFileSync(path.join(folder, `${id}.gguf`), 'no model');
  });
  after(() => gateway.close());

  for (const [deed, model, route, asked] of [
    ['chat', 'broken', '/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['vectors', 'broken-embed', '/v1/embeddings', { input: 'Hi' }],
  ] as const) {
    test(`${deed}: is loaded once for a request, and logged once`, async () => {
      const before = gateway.log.lines.length;
      const response = await fetch(gateway.origin + route, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, ...asked }),
      });
      assert.equal(response.status, 500);
      const { error } = (await response.json()) as { error: { message: string; provider: string } };
      assert.match(error.message, new RegExp(`'${model}.gguf' is damaged`));
      const lines = gateway.log.lines.slice(before);
      const started = lines.filter(({ message }) => /^embedded engine.* started$/.test(message));
      assert.equal(started.length, 1);
      assert.deepEqual(
        lines.filter(({ level }) => level === 'error').map(({ message }) => message),
        ['embedded model cannot be loaded'],
      );
    });
  }
});
