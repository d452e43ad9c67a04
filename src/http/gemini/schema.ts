import { isObject } from '../../core/objects.ts';
import { camelName } from './camel.ts';

type Json = Record<string, unknown>;

/** Members that hold schemas by name, one schema, or a list of them. */
const BY_NAME: ReadonlySet<string> = new Set(['properties', '$defs', 'defs', 'patternProperties']);
const ONE: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not']);
const SEVERAL: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
/** 64-bit numbers, which protobuf's JSON writes as text. */
const COUNTS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
]);

/**
 * Google's `Schema` (https://ai.google.dev/api/caching#Schema), a dialect of OpenAPI 3.0, → JSON Schema. Types lose their
 * capitals, `nullable` becomes a type, `example` a list of them; what JSON Schema does not know stays as it is.
 */
export function toJsonSchema(schema: Readonly<Json>): Json {
  const json: Json = {};
  let isNullable = false;
  for (const [given, value] of Object.entries(schema)) {
    const name = given.startsWith('$') ? given : camelName(given);
    if (name === 'type') {
      const type = toType(value);
      if (type !== undefined) json['type'] = type;
    } else if (name === 'nullable') isNullable = value === true;
    else if (name === 'example') json['examples'] = [value];
    else if (BY_NAME.has(name) && isObject(value)) {
      json[name] = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inside(inner)]));
    } else if (ONE.has(name)) json[name] = inside(value);
    else if (SEVERAL.has(name) && Array.isArray(value)) json[name] = value.map(inside);
    else if (COUNTS.has(name) && typeof value === 'string') json[name] = Number(value);
    // `enum` as a format says only that there is an enum.
    else if (name !== 'format' || value !== 'enum') json[name] = value;
  }
  return isNullable ? nullable(json) : json;
}

function inside(value: unknown): unknown {
  return isObject(value) ? toJsonSchema(value) : value;
}

function toType(type: unknown): unknown {
  if (Array.isArray(type)) return type.map(toType);
  if (typeof type !== 'string') return type;
  return type === 'TYPE_UNSPECIFIED' ? undefined : type.toLowerCase();
}

function nullable(json: Json): Json {
  const { type } = json;
  if (typeof type === 'string') return { ...json, type: [type, 'null'] };
  if (Array.isArray(json['anyOf'])) return { ...json, anyOf: [...json['anyOf'], { type: 'null' }] };
  return json;
}
