import { nestsTooDeep } from './json-nesting.ts';

/** Whether something that came as JSON is an object: neither a list nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of an object; none when it is none. */
export function membersOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** The objects of a list; none where it is no list. */
export function objectsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The members of an object but for one. */
export function without(object: Record<string, unknown>, name: string): Record<string, unknown> {
  const { [name]: _, ...others } = object;
  return others;
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Without the members that are undefined: libraries and spreads take one for a member that is there. */
export function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}

type Present<T> = { [Name in keyof T]?: NonNullable<T[Name]> };

/** Without the members that say nothing. */
export function present<T extends object>(members: T): Present<T> {
  const said = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(said) as Present<T>;
}

/** A text; an empty one where it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The first of them that is a text and says something. */
export function firstSaid(values: readonly unknown[]): string | undefined {
  return values.find((each): each is string => typeof each === 'string' && each.trim() !== '');
}

/**
 * A plain value that somebody else wrote, as words; none for an object or list, whose `toString` may be anything, so that
 * `String` would throw.
 */
export function wordsOf(value: unknown): string {
  return typeof value === 'object' || value === undefined ? '' : String(value);
}

/** A value for a field of a form or a query, which have texts only: lists and objects as JSON. */
export function fieldText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : wordsOf(value);
}

/** What JSON text says; undefined for any other text, and for what nests too deep to be written again. */
export function parseJson(text: string): unknown {
  try {
    return nestsTooDeep(text) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON text of an object; undefined for any other text. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
