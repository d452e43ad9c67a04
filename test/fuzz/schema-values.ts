import { isObject } from '../../src/core/objects.ts';
import type { Random } from './random.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** Values that a field's name asks for: without them hardly a request would get past the search for a model. */
export type Hints = (name: string, random: Random) => unknown;

/** How far objects and lists go down. */
const DEPTH = 6;

/** Makes values from JSON Schema 2020-12: those that fit, those that nearly fit, and those that mean harm. */
export class SchemaValues {
  readonly #document: Schema;
  readonly #hints: Hints;

  constructor(document: Schema, hints: Hints) {
    this.#document = document;
    this.#hints = hints;
  }

  /** A value that fits, unless a pattern is too hard to meet. */
  fitting(schema: Schema, random: Random, name = '', depth = 0): unknown {
    const hint = this.#hints(name, random);
    if (hint !== undefined && random.chance(0.85)) return hint;
    if (typeof schema['$ref'] === 'string') return this.fitting(this.#at(schema['$ref']), random, name, depth);
    if ('const' in schema) return schema['const'];
    if (Array.isArray(schema['enum'])) return random.pick(schema['enum']);
    for (const word of ['anyOf', 'oneOf'] as const) {
      const ways = schema[word];
      if (Array.isArray(ways)) return this.fitting(random.pick(ways as Schema[]), random, name, depth);
    }
    if (Array.isArray(schema['allOf'])) {
      const parts = (schema['allOf'] as Schema[]).map((each) => this.fitting(each, random, name, depth));
      return parts.every(isObject) ? Object.assign({}, ...parts) : parts[0];
    }
    const { type } = schema;
    switch (Array.isArray(type) ? random.pick(type) : type) {
      case 'object':
        return this.#object(schema, random, depth);
      case 'array':
        return this.#list(schema, random, name, depth);
      case 'string':
        return this.#text(schema, random);
      case 'integer':
        return Math.floor(this.#number(schema, random));
      case 'number':
        return this.#number(schema, random);
      case 'boolean':
        return random.chance(0.5);
      case 'null':
        return null;
      default:
        return anything(random, depth);
    }
  }

  #object(schema: Schema, random: Random, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    const required = new Set(schema['required'] as readonly string[] | undefined);
    for (const [name, member] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
      const isWanted = required.has(name) || (depth < DEPTH && random.chance(depth === 0 ? 0.15 : 0.35));
      if (isWanted) made[name] = this.fitting(member, random, name, depth + 1);
    }
    const { additionalProperties: more } = schema;
    if (isObject(more) && depth < DEPTH && random.chance(0.5)) {
      for (let left = random.below(4); left > 0; left -= 1) {
        made[random.text(3)] = this.fitting(more as Schema, random, '', depth + 1);
      }
    }
    return made;
  }

  #list(schema: Schema, random: Random, name: string, depth: number): unknown[] {
    const first = ((schema['prefixItems'] ?? []) as Schema[]).map((each) =>
      this.fitting(each, random, name, depth + 1),
    );
    const least = numberOf(schema['minItems'], 0);
    const most = Math.min(numberOf(schema['maxItems'], 4), depth >= DEPTH ? least : 4);
    const { items } = schema;
    if (first.length > 0 && !isObject(items)) return first;
    const count = Math.max(least, random.below(Math.max(most, 0) + 1));
    return [
      ...first,
      ...random.many(count, () => this.fitting(isObject(items) ? (items as Schema) : {}, random, name, depth + 1)),
    ];
  }

  #text(schema: Schema, random: Random): string {
    const text = random.chance(0.5) ? random.pick(USUAL_TEXTS) : random.text();
    const least = numberOf(schema['minLength'], 0);
    return text.padEnd(least, 'a').slice(0, numberOf(schema['maxLength'], text.length + least));
  }

  #number(schema: Schema, random: Random): number {
    const least = numberOf(schema['minimum'], numberOf(schema['exclusiveMinimum'], -1) + 0.5);
    const most = numberOf(schema['maximum'], Math.max(least, 0) + 10);
    return random.chance(0.1) ? least : least + random.next() * (Math.min(most, least + 1_000) - least);
  }

  #at(reference: string): Schema {
    let found: unknown = this.#document;
    for (const key of reference.replace(/^#\//, '').split('/')) {
      found = isObject(found) ? found[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
    }
    return isObject(found) ? (found as Schema) : {};
  }
}

/** The same value with one to three places changed for the worse. */
export function spoilt(value: unknown, random: Random): unknown {
  let changed = structuredClone(value);
  for (let left = random.between(1, 3); left > 0; left -= 1) changed = spoiltOnce(changed, random);
  return changed;
}

function spoiltOnce(value: unknown, random: Random): unknown {
  const isInner = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isInner || random.chance(0.15)) return hostile(random);
  if (Array.isArray(value)) {
    const at = random.below(value.length);
    if (random.chance(0.15)) return [...value, ...value];
    if (random.chance(0.15)) return value.toSpliced(at, 1);
    return value.with(at, spoiltOnce(value[at], random));
  }
  const members = Object.entries(value as object);
  const [name, member] = random.pick(members);
  if (random.chance(0.2)) return Object.fromEntries(members.filter(([other]) => other !== name));
  if (random.chance(0.15)) return withMember(value as object, random.pick(HOSTILE_NAMES), hostile(random));
  if (random.chance(0.1)) return withMember(value as object, random.text(4), member);
  return withMember(value as object, name, spoiltOnce(member, random));
}

/** Also members that assignment would not make, such as `__proto__`. */
function withMember(value: object, name: string, member: unknown): object {
  return Object.fromEntries([...Object.entries(value), [name, member]]);
}

/** A value that fits nowhere. */
export function hostile(random: Random): unknown {
  const value = random.pick(HOSTILE);
  return typeof value === 'function' ? (value as (random: Random) => unknown)(random) : value;
}

const HOSTILE_NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', 'length', 'then'];

const HOSTILE: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1, 0.5, 1e308, -1e308, 5e-324, 2 ** 31, 2 ** 53, -(2 ** 63)],
  ...['', ' ', '0', 'null', '__proto__', 'constructor', '../../../etc/passwd', '%2e%2e%2f', 'a\r\nx: y', '\u0000'],
  ...[
    '\ud800',
    '\u202e',
    "' OR 1=1 --",
    '{jndi:ldap://127.0.0.1}',
    '{{7*7}}',
    '<script>alert(1)</script>',
    '*',
    '.',
    '..',
  ],
  ...['data:image/png;base64,', 'data:image/png;base64,!!!!', 'data:,', 'data:;base64,AAAA', 'data:text/html,<script>'],
  ...['http://127.0.0.1:1/', 'http://[::1]/', 'http://0x7f.1/', 'http://user:pass@localhost/', 'file:///etc/passwd'],
  ...['http://', '//', 'javascript:alert(1)', '(a+)+$', '[', '1e400', '99999999999999999999', '2026-02-30', '+', '-1'],
  ...[[], {}, [null], [[]], [{}], { type: 'text' }, { type: 'image_url' }, { type: null }, { url: null }, { '': '' }],
  ...[{ type: 'function' }, { type: 'tool_use' }, { $ref: '#' }, { type: 'object', properties: { a: { $ref: '#' } } }],
  ...[{ length: 1e9 }, { toString: 1 }, JSON.parse('{"then":1}'), { toJSON: 'x' }, { constructor: null }],
  (random: Random) => random.text(40),
  (random: Random) => 'x'.repeat(random.pick([300, 5_000, 70_000])),
  (random: Random) => random.many(random.pick([20, 300]), () => random.pick(['a', null, 1])),
  (random: Random) => deep(random.pick([20, 90, 150])),
  (random: Random) => JSON.parse(`{"__proto__":{"polluted":${random.below(9)}}}`),
  (random: Random) => `data:image/png;base64,${random.bytes(40).toString('base64')}`,
  (random: Random) => anything(random, 2),
];

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Any JSON. */
export function anything(random: Random, depth = 0): unknown {
  const kind = random.below(depth >= DEPTH ? 5 : 7);
  if (kind === 0) return null;
  if (kind === 1) return random.chance(0.5);
  if (kind === 2) return random.pick([0, 1, -1, 0.1, 100, 1e21]) * random.next();
  if (kind === 5) return random.many(random.below(4), () => anything(random, depth + 1));
  if (kind === 6)
    return Object.fromEntries(random.many(random.below(4), () => [random.text(3), anything(random, depth + 1)]));
  return random.text();
}

const USUAL_TEXTS: readonly string[] = [
  'Hi',
  'user',
  'auto',
  'low',
  '1',
  'true',
  'en',
  '256x256',
  '16:9',
  'text',
  'call_1',
];

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
