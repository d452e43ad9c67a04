import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { editObject, scanObject } from './json.ts';

const plain = fc.dictionary(
  fc.string({ unit: 'binary' }).filter((name) => name !== '__proto__'),
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
);

describe('scanObject', () => {
  test('finds every member of any object, with its exact value', () => {
    fc.assert(
      fc.property(plain, fc.constantFrom(undefined, 1, '\t'), (object, indent) => {
        const bytes = Buffer.from(JSON.stringify(object, null, indent));
        const { members } = scanObject(bytes);
        const read = members.map(({ name, start, end }) => [name, JSON.parse(bytes.toString('utf8', start, end))]);
        assert.deepEqual(Object.fromEntries(read), JSON.parse(bytes.toString()));
        assert.equal(read.length, Object.keys(object).length);
        for (const { start, end } of members) assert.match(bytes.toString('utf8', start, end), /^\S(?:.*\S)?$/s);
      }),
    );
  });

  test('measures depth, whatever brackets stand in strings', () => {
    assert.equal(scanObject(Buffer.from('{"a":"[[[[","b":[{"c":[1]}]}')).depth, 4);
    assert.equal(scanObject(Buffer.from(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)).depth, 50_000);
  });

  test('is not fooled by escapes at the end of strings', () => {
    const bytes = Buffer.from(String.raw`{"a":"\\","b\"":"x\\\"","c":"${'y'.repeat(100)}\\"}`);
    assert.deepEqual(
      scanObject(bytes).members.map((member) => member.name),
      ['a', 'b"', 'c'],
    );
  });
});

describe('editObject', () => {
  test('replaces, removes and adds, and keeps every other byte', () => {
    const bytes = Buffer.from('{ "model" : "fast", "seed": 12345678901234567890, "provider":"x" ,"n":1.0}');
    const edited = editObject(
      bytes,
      scanObject(bytes).members,
      new Map([
        ['model', '"mock-fast"'],
        ['provider', undefined],
        ['stream', 'true'],
        ['absent', undefined],
        ['top_k', '7'],
      ]),
    );
    assert.equal(
      edited.toString(),
      '{"model":"mock-fast","seed":12345678901234567890,"n":1.0,"stream":true,"top_k":7}',
    );
  });

  test('returns the same bytes when there is nothing to do', () => {
    const bytes = Buffer.from('{ "a" : 1 }');
    assert.equal(editObject(bytes, scanObject(bytes).members, new Map([['b', undefined]])), bytes);
  });

  test('gives what editing the parsed object gives', () => {
    fc.assert(
      fc.property(plain, fc.string({ unit: 'binary' }), fc.jsonValue(), (object, name, value) => {
        if (name === '__proto__') return;
        const bytes = Buffer.from(JSON.stringify(object));
        const edited = editObject(bytes, scanObject(bytes).members, new Map([[name, JSON.stringify(value)]]));
        assert.deepEqual(JSON.parse(edited.toString()), JSON.parse(JSON.stringify({ ...object, [name]: value })));
      }),
    );
  });
});
