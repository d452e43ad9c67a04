import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Batch, Chunk } from '../../src/core/chunk.ts';
import { fencedBlock } from '../../src/core/fenced-block.ts';
import { splitThinking } from '../../src/enrich/think-tags.ts';
import { ToolCalls } from '../../src/providers/openai/tool-calls.ts';
import { property } from './cases.ts';
import { hostile } from './schema-values.ts';

describe('what models write', () => {
  test('think tags are found in the same places, however the answer is split', async () => {
    await property(1_000, async (random) => {
      const text = random
        .many(random.below(9), () => random.pick(['<think>', '</think>', '<thi', '\n', ' ', 'a', '<', random.text(3)]))
        .join('');
      const whole = await thought([text]);
      assert.deepEqual(await thought(random.split(text)), whole, JSON.stringify(text));
      const letters = (each: string): string => each.replace(/<\/?think>|\s/g, '');
      assert.equal(letters(whole.reasoning + whole.content), letters(text), JSON.stringify(text));
    });
  });

  test('pieces of tool calls become calls with their own place and id', async () => {
    await property(1_000, (random) => {
      const calls = new ToolCalls();
      const ids = new Map<number, string>();
      for (let left = random.below(8); left > 0; left -= 1) {
        const entries = random.many(random.below(3), () =>
          random.pick<unknown>([
            hostile(random),
            {
              index: random.below(3),
              id: random.pick(['a', 'b', undefined]),
              function: { name: random.pick(['f', undefined]), arguments: random.pick<unknown>(['{', {}, null]) },
            },
          ]),
        );
        for (const { index, id, arguments: written } of calls.read(entries)) {
          assert.ok(Number.isInteger(index));
          assert.equal(typeof written, 'string');
          if (id !== undefined && !ids.has(index)) ids.set(index, id);
          assert.ok(ids.has(index), 'a call begins with its id');
          if (id !== undefined) assert.equal(id, ids.get(index));
        }
      }
    });
  });

  test('a fenced block is a run of lines of the text', async () => {
    await property(1_000, (random) => {
      const text = random
        .many(random.below(9), () => random.pick(['```', '~~~', '```js', '````', '   ```', 'a', '', random.text(4)]))
        .join('\n');
      const languages = random.pick([undefined, ['js'], ['', 'py']]);
      const block = fencedBlock(text, languages);
      assert.ok(`\n${text}\n`.includes(block === '' ? '' : `\n${block}\n`) || block === text, JSON.stringify(text));
    });
  });
});

async function thought(pieces: readonly string[]): Promise<{ readonly content: string; readonly reasoning: string }> {
  async function* batches(): AsyncIterable<Batch> {
    for (const content of pieces) yield [{ type: 'content', content }];
    yield [{ type: 'finish', finish: 'stop' } as Chunk];
  }
  let content = '';
  let reasoning = '';
  for await (const batch of splitThinking(batches())) {
    for (const chunk of batch) {
      if (chunk.type === 'content') content += chunk.content;
      if (chunk.type === 'reasoning') reasoning += chunk.reasoning;
    }
  }
  return { content, reasoning };
}
