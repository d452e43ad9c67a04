import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SluiceError } from '../../core/errors.ts';
import { toGrammarSchema } from './grammar-schema.ts';

describe('a JSON Schema for the grammar', () => {
  test('keeps what the grammar knows', () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 20 },
        born: { type: 'string', format: 'date' },
        tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
        kind: { enum: ['a', 1, null] },
      },
      additionalProperties: false,
    };
    assert.deepEqual(toGrammarSchema(schema), schema);
  });

  test('rewrites unions, constants and definitions', () => {
    assert.deepEqual(toGrammarSchema({ anyOf: [{ type: 'string' }, { const: 3 }] }), {
      oneOf: [{ type: 'string' }, { enum: [3] }],
    });
    assert.deepEqual(toGrammarSchema({ type: ['object', 'null'], properties: { a: { type: 'integer' } } }), {
      oneOf: [
        { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false },
        { type: 'null' },
      ],
    });
    assert.deepEqual(toGrammarSchema({ type: ['string', 'null'] }), { type: ['string', 'null'] });
    assert.deepEqual(toGrammarSchema({ allOf: [{ type: 'boolean' }] }), { type: 'boolean' });
    assert.deepEqual(toGrammarSchema({ $ref: '#/definitions/node', definitions: { node: { type: 'null' } } }), {
      $ref: '#/$defs/node',
      $defs: { node: { type: 'null' } },
    });
  });

  test('guesses a missing type, and lets anything through where nothing is said', () => {
    assert.equal(toGrammarSchema({ properties: { a: { type: 'string' } } })['type'], 'object');
    assert.deepEqual(toGrammarSchema({ items: { type: 'string' } }), { type: 'array', items: { type: 'string' } });
    assert.equal((toGrammarSchema({})['oneOf'] as unknown[]).length, 3);
    assert.deepEqual(toGrammarSchema({ type: 'object' }), { type: 'object', additionalProperties: true });
  });

  test('leaves out what only narrows a value, and bounds that are too large for a grammar', () => {
    assert.deepEqual(toGrammarSchema({ type: 'string', pattern: '^a', maxLength: 1e9, title: 'T' }), {
      type: 'string',
    });
    assert.deepEqual(toGrammarSchema({ type: 'integer', minimum: 3 }), { type: 'integer' });
    assert.deepEqual(toGrammarSchema({ type: 'array', minItems: -1, maxItems: 1.5 }), { type: 'array' });
  });

  test('refuses what it cannot express', () => {
    const refused = [
      { not: { type: 'string' } },
      { allOf: [{ type: 'object' }, { type: 'object' }] },
      { type: 'object', patternProperties: {} },
      { $ref: 'https://example.com/schema' },
      { enum: [{ a: 1 }] },
    ];
    for (const schema of refused) assert.throws(() => toGrammarSchema(schema), isError('not_supported'));
  });

  test('refuses nonsense and schemas without end', () => {
    const deep = (levels: number): Record<string, unknown> =>
      levels === 0 ? { type: 'string' } : { type: 'array', items: deep(levels - 1) };
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { type: 'null' }]));
    const refused: Record<string, unknown>[] = [
      { type: 'strnig' },
      { anyOf: [] },
      { enum: 'a' },
      { type: 'object', properties: { a: 3 } },
      { type: 'object', properties: [] },
      deep(200),
      { type: 'object', properties: many },
    ];
    for (const schema of refused) assert.throws(() => toGrammarSchema(schema), isError('invalid_request'));
  });

  test('keeps hostile names as plain names', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"null"}}}') as Record<
      string,
      unknown
    >;
    const properties = toGrammarSchema(schema)['properties'] as object;
    assert.deepEqual(Object.keys(properties), ['__proto__']);
    assert.equal(Object.getPrototypeOf(properties), Object.prototype);
  });
});

function isError(code: string): (error: unknown) => boolean {
  return (error) => error instanceof SluiceError && error.code === code;
}
