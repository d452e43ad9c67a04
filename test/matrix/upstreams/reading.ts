import { elements, member } from '../../support/vendor-server.ts';
import type { Arrived } from '../vocabulary.ts';

/** What the readers of all wire formats share. */

/** The options that are there. */
export function given(options: Arrived['options']): Arrived['options'] {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== null));
}

/** `true`, or nothing at all. */
export function isWanted(value: boolean): true | undefined {
  return value ? true : undefined;
}

export function joined(texts: readonly unknown[]): string {
  return texts.filter((text) => typeof text === 'string').join('');
}

/** Arguments of a call that are JSON text; what is none stays as it is. */
export function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether a schema is the one that the structured answer has to have, in whatever dialect. */
export function asksFor(schema: unknown): boolean {
  const typeOf = (name: string): unknown => String(member(schema, 'properties', name, 'type')).toLowerCase();
  const required = elements(member(schema, 'required'));
  return typeOf('city') === 'string' && typeOf('degrees') === 'number' && required.length === 2;
}
