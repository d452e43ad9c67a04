import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toStrictJsonSchema } from 'openai/lib/transform';
import { satisfiesStrict } from './strict-schema.ts';

type Json = Record<string, unknown>;

const text = { type: 'string' };
const object = (properties: Json, more: Json = {}): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const nested = (depth: number): Json => (depth === 0 ? text : object({ inner: nested(depth - 1) }));
const tree = object({ text, children: { type: 'array', items: { $ref: '#' } } });

const TAKEN: Readonly<Record<string, Json>> = {
  'all properties are required, and no others allowed': object({ city: text, unit: { enum: ['C', 'F'] } }),
  'an object without properties': object({}),
  'an object that names none': { type: 'object', additionalProperties: false },
  'objects in lists and alternatives': object({
    items: { type: 'array', items: object({ text }) },
    either: { anyOf: [object({ text }), { type: 'null' }] },
  }),
  'an object that may be null': object({ maybe: { ...object({ text }), type: ['object', 'null'] } }),
  'one that holds itself': tree,
  'definitions by either name': object(
    { a: { $ref: '#/$defs/one~1two' }, b: { $ref: '#/definitions/other' } },
    { $defs: { 'one/two': object({ text }) }, definitions: { other: text } },
  ),
  'an alternative by its place': object({
    a: { anyOf: [text, object({ text })] },
    b: { $ref: '#/properties/a/anyOf/1' },
  }),
  'properties that are called like keywords': object({ allOf: text, $ref: text, required: text }),
};

const REFUSED: Readonly<Record<string, unknown>> = {
  'an optional property': object({ city: text, unit: text }, { required: ['city'] }),
  'nothing is required': { type: 'object', properties: { text }, additionalProperties: false },
  'others are allowed': object({ text }, { additionalProperties: true }),
  'nothing is said of others': object({ text }, { additionalProperties: undefined }),
  'one within a property': object({ place: object({ text }, { required: [] }) }),
  'one within a list': object({ list: { type: 'array', items: { type: 'object', properties: { text } } } }),
  'one among alternatives': object({ either: { anyOf: [text, { type: 'object' }] } }),
  'one that may be null': object({ maybe: { type: ['object', 'null'], properties: { text } } }),
  'one that only has properties': object({ place: { properties: { text } } }),
  'one in a definition': object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { type: 'object' } } }),
  'a reference to nowhere': object({ a: { $ref: '#/$defs/a' } }),
  'a reference to another document': object({ a: { $ref: 'https://example.org/a.json' } }),
  'a reference to what is no schema': object({ a: { $ref: '#/required' } }),
  'a reference to a member that nobody knows': object({ a: { $ref: '#/own' } }, { own: text }),
  'a reference with more beside it': object({ a: { $ref: '#/$defs/a', description: 'A' } }, { $defs: { a: text } }),
  'alternatives at the root': { anyOf: [object({ text })] },
  'alternatives beside what is at the root': object({ text }, { anyOf: [object({ text })] }),
  'a list of anything': object({ list: { type: 'array' } }),
  'a list, or nothing, of anything': object({ list: { type: ['array', 'null'] } }),
  'items by their place': object({ pair: { type: 'array', items: [text, text] } }),
  'a property that is required and not there': object({ text }, { required: ['text', 'other'] }),
  'a list at the root': { type: 'array', items: text },
  'a schema that is no object': object({ any: true }),
  'properties that are no object': object({}, { properties: 'a' }),
  'one that is too deep': nested(100),
  'one that is too large': object(Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`p${index}`, text]))),
  'no schema': undefined,
};

/** Keywords that strict mode does not know, and what may stand there. */
const UNKNOWN: Readonly<Record<string, unknown>> = {
  allOf: [text],
  oneOf: [text],
  not: text,
  contains: text,
  prefixItems: [text],
  propertyNames: text,
  patternProperties: { a: text },
  dependentRequired: { a: ['b'] },
  minProperties: 1,
  maxProperties: 2,
  uniqueItems: true,
  unevaluatedProperties: false,
  contentEncoding: 'base64',
  additionalItems: false,
  $anchor: 'here',
};

describe('strict mode', () => {
  for (const [name, schema] of Object.entries(TAKEN))
    test(`takes: ${name}`, () => {
      assert.equal(satisfiesStrict(schema), true);
      assert.deepEqual(toStrictJsonSchema(schema), schema, 'OpenAI’s own library changes nothing');
    });
  for (const [name, schema] of Object.entries(REFUSED))
    test(`does not take: ${name}`, () => assert.equal(satisfiesStrict(schema), false));
  for (const [keyword, value] of Object.entries(UNKNOWN))
    test(`does not take: ${keyword}`, () => {
      const schema = object({ list: { type: 'array', items: text, [keyword]: value } });
      assert.throws(() => toStrictJsonSchema(schema), 'OpenAI’s own library does not either');
      assert.equal(satisfiesStrict(schema), false);
    });
});
