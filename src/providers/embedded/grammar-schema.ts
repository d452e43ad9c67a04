import { SluiceError } from '../../core/errors.ts';
import { isObject, membersOf } from '../../core/objects.ts';
import type { GrammarSchema } from './protocol.ts';

type Json = Readonly<Record<string, unknown>>;

// A grammar grows with every count and every nested schema; these keep it within a few thousand rules.
const LARGEST_COUNT = 256;
const LARGEST_DEPTH = 32;
const MOST_SCHEMAS = 1_000;

const SCALARS: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null']);
const STRING_FORMATS: ReadonlySet<unknown> = new Set(['date-time', 'time', 'date']);
/** What the grammar builder makes of a schema it does not understand is `null`, so "anything" has to be spelt out. */
const ANYTHING: Json = {
  oneOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'array' },
    { type: 'object', additionalProperties: true },
  ],
};

/**
 * Rewrites a client's JSON Schema into the subset that node-llama-cpp turns into a grammar: `anyOf` becomes `oneOf`,
 * `definitions` become `$defs`, types and unions are made explicit. Every property counts as required. Keywords that
 * only narrow a value (`pattern`, `minimum`, …) are left out, so the answer may break them; what would change the
 * shape and cannot be expressed throws `not_supported`, nonsense throws `invalid_request`.
 */
export function toGrammarSchema(schema: Json): GrammarSchema {
  let count = 0;

  function convert(value: unknown, depth: number): Json {
    if (value === true) return ANYTHING;
    if (!isObject(value)) throw invalid('every schema must be an object');
    if (depth > LARGEST_DEPTH) throw invalid(`it is nested deeper than ${LARGEST_DEPTH} levels`);
    if (++count > MOST_SCHEMAS) throw invalid(`it has more than ${MOST_SCHEMAS} parts`);
    const definitions = convertDefinitions(value, depth);
    return definitions === undefined ? shape(value, depth) : { ...shape(value, depth), $defs: definitions };
  }

  function shape(value: Json, depth: number): Json {
    if (typeof value['$ref'] === 'string') return { $ref: localReference(value['$ref']) };
    const union = value['anyOf'] ?? value['oneOf'];
    if (union !== undefined) return { oneOf: listOf(union, 'anyOf').map((one) => convert(one, depth + 1)) };
    if (value['allOf'] !== undefined) {
      const [only, ...more] = listOf(value['allOf'], 'allOf');
      if (more.length > 0) throw unsupported('allOf');
      return convert(only, depth + 1);
    }
    for (const keyword of ['not', 'if', 'patternProperties']) {
      if (value[keyword] !== undefined) throw unsupported(keyword);
    }
    if (value['const'] !== undefined) return { enum: literals([value['const']]) };
    if (value['enum'] !== undefined) return { enum: literals(value['enum']) };
    return ofType(value, depth);
  }

  function ofType(value: Json, depth: number): Json {
    const type = value['type'] ?? guessType(value);
    if (type === undefined) return ANYTHING;
    if (Array.isArray(type)) {
      if (type.length > 0 && type.every((one) => SCALARS.has(one))) return { type };
      return { oneOf: listOf(type, 'type').map((one) => convert({ ...value, type: one }, depth + 1)) };
    }
    if (type === 'object') return objectSchema(value, depth);
    if (type === 'array') return arraySchema(value, depth);
    if (type === 'string') return stringSchema(value);
    if (SCALARS.has(type)) return { type };
    throw invalid(`there is no type ${JSON.stringify(type)}`);
  }

  function objectSchema(value: Json, depth: number): Json {
    const properties = value['properties'];
    const more = value['additionalProperties'];
    const rest = isObject(more)
      ? convert(more, depth + 1)
      : (more === true || properties === undefined) && more !== false;
    if (properties === undefined) return { type: 'object', additionalProperties: rest };
    if (!isObject(properties)) throw invalid('properties must be an object');
    const entries = Object.entries(properties).map(([name, one]) => [name, convert(one, depth + 1)]);
    return { type: 'object', properties: Object.fromEntries(entries), additionalProperties: rest };
  }

  function arraySchema(value: Json, depth: number): Json {
    const { items, prefixItems } = value;
    return {
      type: 'array',
      ...(items === undefined || items === true ? {} : { items: convert(items, depth + 1) }),
      ...(prefixItems === undefined
        ? {}
        : { prefixItems: listOf(prefixItems, 'prefixItems').map((one) => convert(one, depth + 1)) }),
      ...counts(value, ['minItems', 'maxItems']),
    };
  }

  function convertDefinitions(value: Json, depth: number): Json | undefined {
    const all = { ...membersOf(value['definitions']), ...membersOf(value['$defs']) };
    const entries = Object.entries(all).map(([name, one]) => [name, convert(one, depth + 1)]);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }

  return convert(schema, 0);
}

function stringSchema(value: Json): Json {
  if (STRING_FORMATS.has(value['format'])) return { type: 'string', format: value['format'] };
  return { type: 'string', ...counts(value, ['minLength', 'maxLength']) };
}

/** Bounds that are too large for a grammar are left out, which only widens what is allowed. */
function counts(value: Json, names: readonly string[]): Json {
  const usable = names.filter((name) => {
    const bound = value[name];
    return typeof bound === 'number' && Number.isInteger(bound) && bound >= 0 && bound <= LARGEST_COUNT;
  });
  return Object.fromEntries(usable.map((name) => [name, value[name]]));
}

function guessType(value: Json): string | undefined {
  if (value['properties'] !== undefined) return 'object';
  if (value['items'] !== undefined || value['prefixItems'] !== undefined) return 'array';
  return undefined;
}

function literals(value: unknown): readonly unknown[] {
  const list = listOf(value, 'enum');
  if (list.some((one) => typeof one === 'object' && one !== null))
    throw unsupported('objects or lists in enum or const');
  return list;
}

function localReference(reference: string): string {
  const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(reference)?.[1];
  if (name === undefined) throw unsupported(`$ref to ${JSON.stringify(reference)}`);
  return `#/$defs/${name}`;
}

function listOf(value: unknown, keyword: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw invalid(`${keyword} must be a list with at least one entry`);
  return value;
}

function invalid(what: string): SluiceError {
  return new SluiceError('invalid_request', `The schema of response_format cannot be used: ${what}.`, { param: PARAM });
}

function unsupported(keyword: string): SluiceError {
  const message = `The embedded models cannot follow a schema with ${keyword}.`;
  return new SluiceError('not_supported', message, { param: PARAM });
}

const PARAM = 'response_format.json_schema.schema';
