import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { describeEmbedded } from './describe.ts';
import { findModels, type ModelSources } from './models.ts';

describe('the models folder', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-models-'));
    const names = [
      'qwen3-0.6b.gguf',
      'Big Model.GGUF',
      'split-00001-of-00002.gguf',
      'split-00002-of-00002.gguf',
      'mmproj-model-f16.gguf',
      '.hidden.gguf',
      'half.gguf.partial',
      'notes.txt',
      'line\nbreak.gguf',
      'back\\slash.gguf',
    ];
    for (const name of names) writeFileSync(join(folder, name), '');
    mkdirSync(join(folder, 'folder.gguf'));
    symlinkSync(join(folder, 'notes.txt'), join(folder, 'linked.gguf'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const sources = (changed: Partial<ModelSources> = {}): ModelSources => ({
    config: { enabled: true, modelsDir: folder, parallel: 1 },
    dataDir: join(folder, 'data'),
    resolve: () => assert.fail('not installed'),
    ...changed,
  });
  const installed = { resolve: (specifier: string) => specifier };

  test('offers its models by file name', async () => {
    const models = await findModels(sources());
    assert.deepEqual(
      models.map(({ id }) => id),
      ['Big Model', 'linked', 'qwen3-0.6b', 'split-00001-of-00002'],
    );
    assert.equal(models[0]?.path, join(folder, 'Big Model.GGUF'));
  });

  test('comes before the bundled model, which is called a demo', async () => {
    const models = await findModels(sources(installed));
    assert.equal(models.at(-1)?.id, 'tinyllama-1.1b-chat');
    assert.match(models.at(-1)?.label ?? '', /demo/);
  });

  test('may hold the unpacked bundled model without offering it twice', async () => {
    writeFileSync(join(folder, 'tinyllama-1.1b-chat.gguf'), '');
    const models = await findModels(sources(installed));
    const found = models.filter(({ id }) => id === 'tinyllama-1.1b-chat');
    assert.equal(found.length, 1);
    assert.equal(found[0]?.path, undefined);
    rmSync(join(folder, 'tinyllama-1.1b-chat.gguf'));
  });

  test('may be missing', async () => {
    const config = { enabled: true, modelsDir: join(folder, 'none'), parallel: 1 };
    assert.deepEqual(await findModels(sources({ config })), []);
  });

  test('is described for people', async () => {
    const described = await describeEmbedded(sources(installed));
    assert.equal(described.bundled, 'packed');
    assert.deepEqual(described.models.at(0), 'Big Model');
    const text = described.lines.join('\n');
    assert.match(text, /small demo model/);
    assert.match(text, /Your own models: Big Model, linked, qwen3-0\.6b, split-00001-of-00002\./);
    assert.ok(text.includes(folder));
    const missing = await describeEmbedded(sources());
    assert.match(missing.lines.join('\n'), /not installed/);
  });
});
