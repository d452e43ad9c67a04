import { isLoose, type Loose, objectsOf } from './lenient.ts';

/** What members of a chat are read with. */
export interface Context {
  /** The new ids of messages, by those in the file. */
  readonly ids: ReadonlyMap<string, string>;
  /** The moment that counts where none is named, in milliseconds. */
  readonly since: number;
}

/** What a reader says of a member without which the whole is nothing. */
const UNFIT: unique symbol = Symbol('unfit');

type Read<Value> = (value: unknown, context: Context) => Value;

/**
 * How each member of something that is exported is read again. The file may come from anybody: what is not as it should be counts
 * as absent. `local` is what only this browser can use, and is not written. A new member has to be named here to compile.
 */
export type Members<Shape> = {
  readonly [Name in keyof Shape]-?: Partial<Pick<Shape, Name>> extends Pick<Shape, Name>
    ? Read<Required<Shape>[Name] | undefined> | 'local'
    : Read<Shape[Name] | typeof UNFIT>;
};

/** Undefined: something is missing without which it is nothing. */
export function readMembers<Shape>(members: Members<Shape>, entry: Loose, context: Context): Shape | undefined {
  const taken: Record<string, unknown> = {};
  for (const [name, read] of Object.entries<Read<unknown> | 'local'>(members)) {
    if (read === 'local') continue;
    const value = read(entry[name], context);
    if (value === UNFIT) return undefined;
    if (value !== undefined) taken[name] = value;
  }
  return taken as Shape;
}

/** What of it is written. */
export function portable<Shape extends object>(members: Members<Shape>, whole: Shape): Partial<Shape> {
  const isPortable = (name: string): boolean => (members[name as keyof Shape] ?? 'local') !== 'local';
  return Object.fromEntries(Object.entries(whole).filter(([name]) => isPortable(name))) as Partial<Shape>;
}

/** A reader of one thing that has members of its own. */
export function one<Shape>(members: Members<Shape>): Read<Shape | undefined> {
  return (value, context) => (isLoose(value) ? readMembers(members, value, context) : undefined);
}

/** A reader of several such; undefined where none is left. */
export function many<Shape>(members: Members<Shape>): Read<readonly Shape[] | undefined> {
  return (value, context) => {
    const all = objectsOf(value).flatMap((entry) => readMembers(members, entry, context) ?? []);
    return all.length === 0 ? undefined : all;
  };
}

/** Of any text. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Of what is true or not there. */
export function flag(value: unknown): true | undefined {
  return value === true ? true : undefined;
}

/** Of figures and moments. */
export function figure(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Of one word of several. */
export function word<Word extends string>(...words: readonly Word[]): Read<Word | undefined> {
  return (value) => words.find((each) => each === value);
}

/** Makes a reader of a member without which the whole is nothing. */
export function needed<Value>(read: Read<Value | undefined>): Read<Value | typeof UNFIT> {
  return (value, context) => read(value, context) ?? UNFIT;
}
