import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { byName, readPresets, writePresets } from './presets.ts';
import { defaultSettings } from './settings.ts';
import { cleaned, countOf, NEXT_SETUP, PARAMETERS, parseParameter, setupOf, toSetup, withParameter } from './setup.ts';

const rowOf = (name: string) => {
  const row = PARAMETERS.find((each) => each.name === name);
  assert.ok(row !== undefined);
  return row;
};

describe('parameters', () => {
  test('take numbers as people write them, within their limits', () => {
    assert.equal(parseParameter(rowOf('temperature'), '0,7'), 0.7);
    assert.equal(parseParameter(rowOf('temperature'), '9'), 2);
    assert.equal(parseParameter(rowOf('presence_penalty'), -5), -2);
    assert.equal(parseParameter(rowOf('max_tokens'), ' 12.6 '), 13);
    assert.equal(parseParameter(rowOf('max_tokens'), 0), 1);
    assert.equal(parseParameter(rowOf('top_p'), 0.1 + 0.2), 0.3);
  });

  test('are the provider’s own where nothing sensible is written', () => {
    for (const typed of ['', '  ', 'warm', undefined, null, 'NaN', 'Infinity'])
      assert.equal(parseParameter(rowOf('temperature'), typed), undefined, String(typed));
    assert.equal(parseParameter(rowOf('reasoning_effort'), 'extreme'), undefined);
    assert.equal(parseParameter(rowOf('reasoning_effort'), 'low'), 'low');
  });

  test('go away when they are reset', () => {
    assert.deepEqual(withParameter({ temperature: 1, seed: 3 }, 'temperature', undefined), { seed: 3 });
    assert.deepEqual(withParameter({ seed: 3 }, 'temperature', 0), { seed: 3, temperature: 0 });
  });
});

describe('a setup', () => {
  test('is empty without words and parameters', () => {
    assert.deepEqual(cleaned({ system: ' \n', parameters: {} }), {});
    assert.equal(countOf({ system: ' ', parameters: { temperature: 0 } }), 1);
  });

  test('is that of the chat, or waits for the next one', () => {
    const settings = { ...defaultSettings, more: { [NEXT_SETUP]: { system: 'next' } } };
    assert.deepEqual(setupOf(undefined, settings), { system: 'next' });
    assert.deepEqual(setupOf({ parameters: { seed: 1 } }, settings), { parameters: { seed: 1 } });
  });

  test('is read from files without what does not belong into it', () => {
    const file = { system: 5, parameters: { temperature: '1.5', seed: 'x', evil: 1, __proto__: { top_p: 1 } } };
    assert.deepEqual(toSetup(file).parameters?.temperature, 1.5);
    assert.equal(Object.hasOwn(toSetup(file).parameters ?? {}, 'evil'), false);
    for (const odd of [null, undefined, 4, 'x', []]) assert.deepEqual(toSetup(odd), {});
  });
});

describe('presets', () => {
  const presets = [
    {
      id: '1',
      name: 'Poet',
      updated: 1,
      system: 'Rhyme.',
      parameters: { temperature: 1.4 },
      choice: { provider: 'p', model: 'm' },
    },
    { id: '2', name: 'Plain', updated: 2 },
  ];

  test('come back from a file as they were, with ids of their own', () => {
    let count = 0;
    const read = readPresets(JSON.parse(writePresets(presets)), () => `new-${count++}`);
    assert.deepEqual(
      read.map(({ updated: _, ...rest }) => rest),
      presets.map(({ updated: _, ...rest }, index) => ({ ...rest, id: `new-${index}` })),
    );
  });

  test('are not made of anything else', () => {
    for (const odd of [null, 7, [], {}, { presets: [null, {}, { name: 3 }, { name: ' ' }] }])
      assert.deepEqual(
        readPresets(odd, () => 'x'),
        [],
      );
  });

  test('are sorted as people sort names', () => {
    assert.deepEqual(['b 10', 'B 9', 'a'].map((name) => ({ name })).sort(byName), [
      { name: 'a' },
      { name: 'B 9' },
      { name: 'b 10' },
    ]);
  });
});
