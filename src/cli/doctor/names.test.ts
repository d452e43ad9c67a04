import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadYaml, temporaryFolder } from '../../../test/support/config-folder.ts';
import type { Finding } from './finding.ts';
import { examineNames } from './names.ts';

test('a local server that does not run now is no mistake in a name, unless nobody looks for it', async (context) => {
  const found = async (yaml: string): Promise<readonly Finding[]> =>
    examineNames(await loadYaml(temporaryFolder(context), `${yaml}\naliases: { small: ollama/qwen3 }`), [], []);
  const absent: Finding = {
    mark: 'note',
    text: 'the alias "small" stands for ollama/qwen3, which is there as soon as Ollama runs',
    mend: 'start it, or set providers.ollama.baseUrl',
  };
  assert.deepEqual(await found(''), [absent]);
  const byDefault = { ...absent, text: 'the default provider ollama is there as soon as Ollama runs' };
  assert.deepEqual(await found('defaultProvider: ollama'), [absent, byDefault]);
  for (const yaml of ['detectLocal: false', 'providers: { ollama: { enabled: false } }']) {
    const [{ mark, text } = absent] = await found(yaml);
    assert.deepEqual([mark, text], ['wrong', 'the alias "small" points to "ollama/qwen3", which no provider offers']);
  }
});
