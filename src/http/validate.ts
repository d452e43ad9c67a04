import type { z } from 'zod';
import { type ErrorDetail, SluiceError } from '../core/errors.ts';
import { isObject, without } from '../core/objects.ts';
import { quickCheck } from './quick-check.ts';

/**
 * Zod then stops at the first violation. A body can hold millions of them, each of which would become objects: ten megabytes
 * of zeros, where messages belong, take more memory than there is. Zod's types keep this option of `z.validate` internal.
 */
const FIRST_ONLY: object = { abortEarly: true };

/**
 * Checks a value against a schema. A violation becomes an error that names the field: `invalid_request` (400) in dialect A,
 * `invalid_field` (422) in B.
 */
export function validate<T extends z.ZodType>(
  schema: T,
  value: unknown,
  code: 'invalid_request' | 'invalid_field',
  place: 'body' | 'query' = 'body',
): z.infer<T> {
  if (quickCheck(schema)(value)) return value as z.infer<T>;
  const result = safelyParsed(schema, value, code);
  if (result.success) return result.data;
  const detail = result.error.issues.slice(0, 20).map(toDetail);
  const [first] = detail;
  const param = first === undefined ? '' : pathOf(first.loc);
  throw new SluiceError(code, `${param === '' ? 'The request' : `'${param}'`} ${first?.message ?? 'is not valid'}`, {
    ...(param === '' ? {} : { param }),
    ...(code === 'invalid_field' ? { detail: detail.map((each) => ({ ...each, loc: [place, ...each.loc] })) } : {}),
  });
}

/** The same for a query, of which errors say so; what is empty in it counts as not said. */
export function validateQuery<T extends z.ZodType>(
  schema: T,
  query: unknown,
  code: 'invalid_request' | 'invalid_field',
): z.infer<T> {
  return validate(schema, withoutEmpty(query), code, 'query');
}

/** A query without its empty fields: forms send them for what was left open. */
function withoutEmpty(query: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(query ?? {}).filter(([, value]) => value !== ''));
}

/** A body whose `response_format` is no empty word, which front ends send for what was left open. */
export function withoutEmptyFormat(body: Record<string, unknown>): Record<string, unknown> {
  return body['response_format'] === '' ? without(body, 'response_format') : body;
}

/** Refuses a body with more messages than are allowed. No schema does it: how many that are is a setting. */
export function limitMessages(
  body: unknown,
  field: 'messages' | 'contents' | 'input' | 'items',
  most: number,
  code: 'invalid_request' | 'invalid_field',
): void {
  const messages = isObject(body) ? body[field] : undefined;
  if (!Array.isArray(messages) || messages.length <= most) return;
  const message = `must have at most ${most} items`;
  throw new SluiceError(code, `'${field}' ${message}.`, {
    param: field,
    ...(code === 'invalid_field'
      ? { detail: [{ loc: ['body', field], message: `${message}.`, type: 'too_big' }] }
      : {}),
  });
}

/**
 * Zod measures whatever has a `length` before it says that it is no text: an object whose `length` is one that cannot become
 * a number makes it throw (seen with zod 4.6.7).
 */
function safelyParsed<T extends z.ZodType>(
  schema: T,
  value: unknown,
  code: 'invalid_request' | 'invalid_field',
): z.ZodSafeParseResult<z.infer<T>> {
  try {
    return schema.safeParse(value, FIRST_ONLY);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SluiceError(code, "An object with a 'length' stands where a text or a list belongs.", { cause: error });
  }
}

function toDetail(issue: z.core.$ZodIssue): ErrorDetail {
  const loc = keysOf(issue);
  if (issue.code !== 'invalid_union') return { loc, message: `${words(issue)}.`, type: issue.code };
  // The form that got furthest says best what is wrong.
  const complaints = complaintsOf(issue);
  const [best] = complaints.toSorted((a, b) => reach(b) - reach(a) || telling(b) - telling(a));
  if (best === undefined) return { loc, message: 'must be of another form.', type: issue.code };
  const types = isOfType(best) ? typesAt(best, complaints) : [];
  const inner =
    types.length > 1 ? { loc: keysOf(best), message: `must be ${either(types)}.`, type: issue.code } : toDetail(best);
  return { ...inner, loc: [...loc, ...inner.loc] };
}

function keysOf({ path }: z.core.$ZodIssue): (string | number)[] {
  return path.map((key) => (typeof key === 'symbol' ? String(key) : key));
}

/** What each of several forms says first; forms of one of them are forms, too. */
function complaintsOf({ errors }: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] {
  return errors.flatMap(([first]) => {
    if (first === undefined) return [];
    return first.code === 'invalid_union' && first.path.length === 0 && first.errors.length > 0
      ? complaintsOf(first)
      : [first];
  });
}

/** How far a form got: all of its type fits where only the size is wrong; else the deeper, and the further in a list, the better. */
function reach({ code, path }: z.core.$ZodIssue): number {
  if (path.length === 0) return code === 'too_big' || code === 'too_small' ? Number.POSITIVE_INFINITY : 0;
  const [place] = path;
  return path.length + (typeof place === 'number' ? place / (place + 1) : 0);
}

/** Of several forms, how much one's complaint says: it may only be that another one was meant, or that nothing of it is there. */
function telling(issue: z.core.$ZodIssue): number {
  const isOfOther = issue.code === 'custom' || issue.code === 'invalid_value' || 'discriminator' in issue;
  if (isOfOther && issue.path.at(-1) === 'type') return 0;
  if (isMissing(issue)) return 1;
  return isOfType(issue) || issue.code === 'invalid_union' ? 2 : 3;
}

/** Whether the type is another one; a number that is not whole is one all the same. */
function isOfType(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueInvalidType {
  return issue.code === 'invalid_type' && !('format' in issue);
}

/** The types that several forms want in one place. */
function typesAt({ path }: z.core.$ZodIssue, complaints: readonly z.core.$ZodIssue[]): readonly string[] {
  const place = pathOf(path);
  const there = complaints.filter(isOfType).filter((each) => pathOf(each.path) === place);
  return [...new Set(there.map(({ expected }) => article(expected)))];
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.input === undefined && issue.message.includes('undefined');
}

/** The issue as the end of a sentence that begins with the field's name. */
function words(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return isMissing(issue) ? 'is required' : `must be ${article(issue.expected)}`;
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at most ${counted(issue.maximum, issue.origin)}`
        : `must be at most ${issue.maximum}`;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at least ${counted(issue.minimum, issue.origin)}`
        : `must be ${issue.inclusive === false ? 'greater than' : 'at least'} ${issue.minimum}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.slice(0, 10).join(', ').slice(0, 200)}`;
    default:
      return issue.message.slice(0, 200);
  }
}

/** What Zod calls by names that JSON does not have. */
const JSON_NAMES = new Map([
  ['int', 'whole number'],
  ['record', 'object'],
  ['tuple', 'array'],
]);

function counted(count: number | bigint, origin: string): string {
  return `${count} ${origin === 'array' ? 'item' : 'character'}${Number(count) === 1 ? '' : 's'}`;
}

function either(types: readonly string[]): string {
  return `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;
}

function article(expected: string): string {
  const type = JSON_NAMES.get(expected) ?? expected;
  if (type === 'null') return type;
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

function pathOf(loc: readonly PropertyKey[]): string {
  return loc
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`))
    .join('')
    .slice(0, 200);
}
