import type { z } from 'zod';
import { isObject } from '../core/objects.ts';

/** Whether a value is what a schema wants, and would come out of it as it went in. false: only the schema itself can tell. */
export type QuickCheck = (value: unknown) => boolean;

const CHECKS = new WeakMap<z.core.$ZodType, QuickCheck>();
const UNSURE: QuickCheck = () => false;

/**
 * A check that says yes to what nearly every client sends, without what zod makes on the way: a result and a list of issues for
 * each field that the schema knows, which are sixty for a chat, and a copy of the whole. That is 8 µs of a small request.
 */
export function quickCheck(schema: z.core.$ZodType): QuickCheck {
  let check = CHECKS.get(schema);
  if (check === undefined) {
    check = build(schema, false) ?? UNSURE;
    CHECKS.set(schema, check);
  }
  return check;
}

/**
 * Undefined for whatever changes values, has rules of its own, or is not known here.
 *
 * @param isWhole also where that is so for a part of it, which otherwise is what the check is not sure of
 */
function build(schema: z.core.$ZodType, isWhole: boolean): QuickCheck | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const rules = rulesOf(schema);
  if (rules === undefined) return undefined;
  switch (def.type) {
    case 'string':
      return def.coerce === true
        ? undefined
        : (value) => typeof value === 'string' && rules.every((rule) => rule(value));
    case 'number':
      return def.coerce === true ? undefined : (value) => Number.isFinite(value) && rules.every((rule) => rule(value));
    case 'array': {
      const element = build(def.element, isWhole);
      if (element === undefined) return undefined;
      return (value) => Array.isArray(value) && rules.every((rule) => rule(value)) && value.every(element);
    }
  }
  if (rules.length > 0) return undefined;
  switch (def.type) {
    case 'unknown':
      return () => true;
    case 'boolean':
      return def.coerce === true ? undefined : (value) => typeof value === 'boolean';
    case 'enum':
      return oneOf(Object.values(def.entries));
    case 'literal':
      return oneOf(def.values);
    // Whatever was JSON has nothing undefined in it.
    case 'optional':
      return build(def.innerType, isWhole);
    case 'nullable': {
      const inner = build(def.innerType, isWhole);
      return inner && ((value) => value === null || inner(value));
    }
    case 'union':
      return union(def, isWhole);
    case 'record':
      return record(def, isWhole);
    case 'object':
      return object(def, isWhole);
    default:
      return undefined;
  }
}

/** zod takes the first form that fits, so nothing is sure of those behind one that is not fully known here. */
function union({ options }: z.core.$ZodUnionDef, isWhole: boolean): QuickCheck | undefined {
  const forms: QuickCheck[] = [];
  for (const option of options) {
    const whole = build(option, true);
    if (whole === undefined && isWhole) return undefined;
    const form = whole ?? build(option, false);
    if (form !== undefined) forms.push(form);
    if (whole === undefined) break;
  }
  return (value) => forms.some((form) => form(value));
}

function object({ shape, catchall }: z.core.$ZodObjectDef, isWhole: boolean): QuickCheck | undefined {
  const others = (catchall as z.core.$ZodTypes | undefined)?._zod.def;
  const takesOthers = others?.type === 'unknown' && others.checks === undefined;
  // Anything else does something about them.
  if (isWhole && !takesOthers) return undefined;
  const fields = new Map(Object.entries(shape).map(([name, field]) => [name, build(field, isWhole)]));
  if (isWhole && [...fields.values()].includes(undefined)) return undefined;
  const required = Object.entries(shape).flatMap(([name, field]) => (mayBeAbsent(field) ? [] : [name]));
  return (value) => {
    if (!isObject(value)) return false;
    for (const name in value) {
      if (fields.has(name) ? fields.get(name)?.(value[name]) !== true : !takesOthers || name === '__proto__')
        return false;
    }
    return required.every((name) => Object.hasOwn(value, name));
  };
}

/** Whether nothing comes of a field that is not there: a default, for one, makes something of nothing. */
function mayBeAbsent({ _zod: { optin, optout } }: z.core.$ZodType): boolean {
  return optin === 'optional' && optout === 'optional';
}

function record({ keyType, valueType, mode }: z.core.$ZodRecordDef, isWhole: boolean): QuickCheck | undefined {
  const { def } = (keyType as z.core.$ZodTypes)._zod;
  const each = build(valueType, isWhole);
  if (def.type !== 'string' || rulesOf(keyType)?.length !== 0 || mode === 'loose' || each === undefined)
    return undefined;
  return (value) => {
    if (!isObject(value)) return false;
    for (const name in value) if (name === '__proto__' || !each(value[name])) return false;
    return true;
  };
}

/** What a schema asks beyond its type; undefined where some of it is not known here. */
function rulesOf(schema: z.core.$ZodType): readonly QuickCheck[] | undefined {
  const { def } = schema._zod;
  // `z.int()` is a rule itself.
  const own = 'check' in def ? [schema as unknown as z.core.$ZodCheck] : [];
  const rules = [...own, ...(def.checks ?? [])].map(ruleOf);
  return rules.every((rule) => rule !== undefined) ? rules : undefined;
}

function ruleOf(check: z.core.$ZodCheck): QuickCheck | undefined {
  const { def } = (check as z.core.$ZodChecks)._zod;
  switch (def.check) {
    case 'max_length':
      return (value) => (value as string).length <= def.maximum;
    case 'min_length':
      return (value) => (value as string).length >= def.minimum;
    case 'less_than':
      return (value) => (value as number) < (def.value as number) || (def.inclusive && value === def.value);
    case 'greater_than':
      return (value) => (value as number) > (def.value as number) || (def.inclusive && value === def.value);
    case 'number_format':
      return def.format === 'safeint' ? Number.isSafeInteger : undefined;
    case 'string_format': {
      const { format, pattern } = def;
      return format === 'regex' && pattern !== undefined && !pattern.global && !pattern.sticky
        ? (value) => pattern.test(value as string)
        : undefined;
    }
    default:
      return undefined;
  }
}

function oneOf(values: readonly unknown[]): QuickCheck {
  const known = new Set(values);
  return (value) => known.has(value);
}
