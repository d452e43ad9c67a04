import assert from 'node:assert/strict';
import { EventSource } from 'eventsource';
import { picture } from '../support/pictures.ts';
import { at, type KeptWorld } from './kept-world.ts';

export const png = (width: number, height: number): Promise<Buffer> => picture('#c03020', width, height);

/** The text of a bucket. */
export async function textOf(world: KeptWorld, id: string, query = ''): Promise<string> {
  const response = await fetch(at(world, `files/${id}${query}`));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
  return response.text();
}

/** The JSON of the `data:` lines. */
export function dataOf(text: string): { readonly action?: string }[] {
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
}

/** What EventSource gets until the connection ends, which it sees as an error. */
export function listen(url: string): Promise<unknown[]> {
  return new Promise((resolve) => {
    const source = new EventSource(url);
    const messages: unknown[] = [];
    source.onmessage = (event) => messages.push(JSON.parse(event.data));
    source.onerror = () => {
      source.close();
      resolve(messages);
    };
  });
}
