import assert from 'node:assert/strict';
import { test } from 'node:test';
import { property } from '../../test/fuzz/cases.ts';
import { CallPieces, toolInput } from './call-pieces.ts';
import type { ToolCall } from './chat.ts';

test('calls have their arguments byte for byte, however these come', async () => {
  await property(300, (random) => {
    const calls = random.many(
      random.between(1, 4),
      (): ToolCall => ({
        id: random.text(8),
        name: random.text(8),
        arguments: random
          .many(random.below(9), () => random.pick([' ', '\n', '{', '"', '\\', random.text(3)]))
          .join(''),
      }),
    );
    const pieces = new CallPieces();
    // Those of one call in their order, between those of the others; some upstreams say in each of them whose it is.
    const left = calls.map((call, index) => ({
      call,
      index,
      texts: ['', ...random.split(call.arguments)],
      isFirst: true,
    }));
    for (let open = left; open.length > 0; open = open.filter(({ texts }) => texts.length > 0)) {
      const each = random.pick(open);
      const { index, call } = each;
      const [text = '', ...rest] = each.texts;
      pieces.add({
        index,
        ...(each.isFirst || random.chance(0.3) ? { id: call.id, name: call.name } : {}),
        arguments: text,
      });
      each.texts = rest;
      each.isFirst = false;
    }
    assert.deepEqual(pieces.whole(), calls);
  });
});

test('arguments that say nothing are an empty object, and what is no object is told as that', () => {
  const said = ['', ' ', 'null', '\n null ', '{"a": null}', '[null]', 'nul'].map(toolInput);
  const told = [{ rawInvalidInput: '[null]' }, { rawInvalidInput: 'nul' }];
  assert.deepEqual(said, [{}, {}, {}, {}, { a: null }, ...told]);
});
