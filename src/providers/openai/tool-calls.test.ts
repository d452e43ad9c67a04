import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ToolCalls } from './tool-calls.ts';

/** Reads deltas one after the other, and folds them into whole calls. */
function fold(deltas: readonly unknown[][]): { id: string; name: string; arguments: string }[] {
  const calls = new ToolCalls();
  const whole: { id: string; name: string; arguments: string }[] = [];
  for (const piece of deltas.flatMap((delta) => calls.read(delta))) {
    const call = whole[piece.index] ?? { id: '', name: '', arguments: '' };
    whole[piece.index] = call;
    call.id = piece.id ?? call.id;
    call.name = piece.name ?? call.name;
    call.arguments += piece.arguments;
  }
  return whole;
}

const named = (id: string, name: string, written = ''): object => ({
  id,
  type: 'function',
  function: { name, arguments: written },
});
const more = (written: string): object => ({ function: { arguments: written } });

describe('tool calls in pieces', () => {
  test('as OpenAI sends them: by index, the first piece with id and name', () => {
    const deltas = [
      [{ index: 0, ...named('a', 'f') }],
      [{ index: 0, ...more('{"x"') }],
      [{ index: 1, ...named('b', 'g', '{') }],
      [
        { index: 0, ...more(':1}') },
        { index: 1, ...more('}') },
      ],
    ];
    assert.deepEqual(fold(deltas), [
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ]);
  });

  test('without an index: a name begins the next call', () => {
    assert.deepEqual(fold([[named('a', 'f', '{}')], [named('b', 'g', '{')], [more('}')]]), [
      { id: 'a', name: 'f', arguments: '{}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ]);
    assert.deepEqual(
      fold([[named('', 'f', '{}'), named('', 'f', '[]')]]).map(({ name, arguments: written }) => [name, written]),
      [
        ['f', '{}'],
        ['f', '[]'],
      ],
    );
  });

  test('the same index for every call: a new id with a name begins the next call', () => {
    const deltas = [
      [{ index: 0, ...named('a', 'f', '{}') }],
      [{ index: 0, ...named('b', 'g', '{') }],
      [{ index: 0, ...more('}') }],
    ];
    assert.deepEqual(fold(deltas), [
      { id: 'a', name: 'f', arguments: '{}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ]);
  });

  test('a new id in every piece is no new call', () => {
    const deltas = [[{ index: 0, ...named('a', 'f', '{') }], [{ index: 0, id: 'b', ...more('}') }]];
    assert.deepEqual(fold(deltas), [{ id: 'a', name: 'f', arguments: '{}' }]);
  });

  test('calls without an id get one', () => {
    const [call] = fold([[{ index: 0, function: { name: 'f', arguments: '{}' } }]]);
    assert.match(call?.id ?? '', /^call_[A-Za-z0-9]{24}$/);
  });

  test('arguments as an object become JSON text', () => {
    const [call] = fold([[{ index: 0, id: 'a', function: { name: 'f', arguments: { city: 'Köln' } } }]]);
    assert.equal(call?.arguments, '{"city":"Köln"}');
  });

  test('whatever comes, no two calls share a place, and nothing is thrown', () => {
    const entry = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.record(
        {
          index: fc.oneof(fc.nat(3), fc.constantFrom(-1, 1.5, '0', null)),
          id: fc.constantFrom('a', 'b', '', null),
          function: fc.oneof(
            fc.constantFrom(null, 'f'),
            fc.record({ name: fc.constantFrom('f', ''), arguments: fc.jsonValue() }),
          ),
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.array(entry)), (deltas) => {
        const calls = new ToolCalls();
        const ids = new Map<number, string>();
        for (const { index, id } of deltas.flatMap((delta) => calls.read(delta))) {
          if (!ids.has(index)) assert.ok(id, 'the first piece has an id');
          else if (id !== undefined) assert.equal(id, ids.get(index));
          if (id !== undefined) ids.set(index, id);
        }
        assert.equal(calls.any, ids.size > 0);
      }),
    );
  });

  test('calls without end are a failure', () => {
    const calls = new ToolCalls();
    const many = Array.from({ length: 50_000 }, () => named('', 'f'));
    assert.throws(
      () => {
        for (let times = 0; times < 6; times += 1) calls.read(many);
      },
      { code: 'upstream_invalid' },
    );
  });

  test('many calls cost no more each than a few', () => {
    const calls = new ToolCalls();
    const many = Array.from({ length: 200_000 }, (_, index) => ({ index, id: `${index}`, function: { name: 'f' } }));
    const found = calls.read(many);
    assert.deepEqual([found.length, found.at(-1)?.index], [200_000, 199_999]);
  });
});
