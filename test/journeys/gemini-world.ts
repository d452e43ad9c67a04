import assert from 'node:assert/strict';
import type { World } from './sdk-vendors.ts';

export type Json = Record<string, unknown>;

export const HI = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };

/** Asks without Google's client, which sends only what its types know. */
export const postTo = (
  { origin }: Pick<World, 'origin'>,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** An answer as a whole, and with it what the gateway says it left out. */
export async function generateAt(world: World, body: unknown, model = 'acme/test-model'): Promise<Json> {
  const answer = await postTo(world, `/v1beta/models/${model}:generateContent`, body);
  const json = (await answer.json()) as Json;
  assert.equal(answer.status, 200, JSON.stringify(json));
  return { ...json, dropped: answer.headers.get('x-sluice-dropped') };
}
