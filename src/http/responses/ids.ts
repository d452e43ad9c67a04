import { randomBytes } from 'node:crypto';

/** An id for an answer. */
export function responseId(): string {
  return `resp_${randomBytes(24).toString('hex')}`;
}

/** The id of an item tells which answer it belongs to, so that a reference to it can be followed. */
export function itemId(prefix: string, response: string, index: number, place: 'input' | 'output' = 'output'): string {
  return `${prefix}_${response.slice('resp_'.length)}${place === 'input' ? 'i' : 'o'}${index}`;
}

/** The answer that an item of ours belongs to. Undefined for ids that others gave. */
export function responseOfItem(id: string): string | undefined {
  const hex = /^[a-z]+_([0-9a-f]{48})[io]\d+$/.exec(id)?.[1];
  return hex === undefined ? undefined : `resp_${hex}`;
}
