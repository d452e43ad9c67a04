import type { ChatRequest, ResponseFormat, Tool } from '../../core/chat.ts';
import { isObject } from '../../core/objects.ts';

type Json = Record<string, unknown>;

/** Steps into a schema; OpenAI takes ten levels of objects. */
const MOST_DEPTH = 32;
/** Schemas within a schema; OpenAI takes as many properties. */
const MOST_SCHEMAS = 5_000;
/** Keywords that strict mode does not know, as OpenAI's own library has them. */
const UNKNOWN: ReadonlySet<string> = new Set([
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  'additionalItems',
  'allOf',
  'contains',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'else',
  'if',
  'maxContains',
  'maxProperties',
  'minContains',
  'minProperties',
  'not',
  'oneOf',
  'patternProperties',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
  'uniqueItems',
]);
/** Members that hold schemas by name, and such as hold one, or a list of them. */
const BY_NAME = ['properties', '$defs', 'definitions'] as const;
const WITHIN = ['items', 'anyOf'] as const;
/** The way to a schema that these members hold, as a JSON pointer (RFC 6901). */
const POINTER = /^#(?:\/(?:(?:properties|\$defs|definitions)\/[^/]*|items|anyOf\/\d+))*$/;

/**
 * A request in which only those tools and formats are strict that OpenAI's strict mode takes: it refuses others. Whoever writes one of
 * OpenAI's formats knows that mode. `drop` hears of tools that lose it.
 */
export function withPossibleStrict(request: ChatRequest, drop: (field: string) => void): ChatRequest {
  const { format = 'openai', tools = [], responseFormat } = request;
  if (format === 'openai' || format === 'responses') return request;
  const areLoose = tools.some(isBeyondStrict);
  const isLoose = responseFormat !== undefined && isFormatBeyondStrict(responseFormat);
  if (!areLoose && !isLoose) return request;
  if (areLoose) drop('tools.strict');
  return {
    ...request,
    ...(areLoose ? { tools: tools.map((tool) => (isBeyondStrict(tool) ? { ...tool, strict: false } : tool)) } : {}),
    ...(isLoose ? { responseFormat: { ...responseFormat, strict: false } } : {}),
  };
}

function isBeyondStrict({ strict, parameters }: Tool): boolean {
  return strict === true && !satisfiesStrict(parameters);
}

function isFormatBeyondStrict(format: ResponseFormat): format is ResponseFormat & { readonly type: 'json_schema' } {
  return format.type === 'json_schema' && format.strict === true && !satisfiesStrict(format.schema);
}

/**
 * Whether OpenAI's strict mode takes a schema: one of an object, in which every object names all of its properties as required and
 * allows no others (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas).
 */
export function satisfiesStrict(root: unknown): boolean {
  if (!isObject(root) || root['type'] !== 'object' || 'anyOf' in root) return false;
  let left = MOST_SCHEMAS;

  const fits = (schema: unknown, depth: number): boolean => {
    left -= 1;
    if (!isObject(schema) || depth > MOST_DEPTH || left < 0) return false;
    // What it refers to is a part of the root, and looked at there.
    if ('$ref' in schema) return Object.keys(schema).length === 1 && isWithin(root, schema['$ref']);
    if (Object.keys(schema).some((keyword) => UNKNOWN.has(keyword))) return false;
    if (!isClosed(schema) || !saysItems(schema)) return false;
    const named = BY_NAME.flatMap((keyword) => Object.values(schema[keyword] ?? {}));
    const further = WITHIN.flatMap((keyword) => schema[keyword] ?? []);
    return [...named, ...further].every((each) => fits(each, depth + 1));
  };

  return fits(root, 0);
}

/** Whether a schema, if it is one of an object, says of all properties that they are there, and no others. */
function isClosed({ type, properties, required, additionalProperties }: Json): boolean {
  if (!isOf('object', type) && properties === undefined) return true;
  const names = new Set(Array.isArray(required) ? required : []);
  const known = Object.keys(properties ?? {});
  return additionalProperties === false && names.size === known.length && known.every((name) => names.has(name));
}

/** Whether a schema, if it is one of a list, says the same of each that may stand there. */
function saysItems({ type, items }: Json): boolean {
  return items === undefined ? !isOf('array', type) : isObject(items);
}

function isOf(name: string, type: unknown): boolean {
  return Array.isArray(type) ? type.includes(name) : type === name;
}

/** Whether a reference leads to a schema of this root that `satisfiesStrict` looks at. */
function isWithin(root: Json, reference: unknown): boolean {
  if (typeof reference !== 'string' || !POINTER.test(reference)) return false;
  let at: unknown = root;
  for (const step of reference.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Json)[name] : undefined;
  }
  return isObject(at);
}
