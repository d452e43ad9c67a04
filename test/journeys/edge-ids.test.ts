import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Answer, Ask } from '../support/raw-http.ts';
import { HI, openWorld, type World } from './edge-world.ts';

const ASKED = 32;
const RANDOM_BITS = 128;

const share = (name: string): Ask => ({ path: `/backend-api/v2/chat/${name}`, body: { title: 'mine' } });

// Whoever knows one of these may read, change or stop what it stands for, so nobody may guess it (S-10).
describe('ids and secrets that are made here', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const [what, bitsPerDigit, pattern, request, find] of [
    [
      'of stored answers',
      4,
      /^resp_([0-9a-f]+)$/,
      () => ({ path: '/v1/responses', body: { model: 'test-model', input: 'Hi' } }),
      ({ json }) => (json as { id: string }).id,
    ],
    [
      'of conversations',
      4,
      /^conv_([0-9a-f]+)$/,
      () => ({ path: '/v1/conversations', body: {} }),
      ({ json }) => (json as { id: string }).id,
    ],
    [
      'of sent files',
      4,
      /^file-([0-9a-f]+)$/,
      () => ({
        path: '/v1/files',
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
        body: '--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nHi\r\n--x--\r\n',
      }),
      ({ json }) => (json as { id: string }).id,
    ],
    [
      'of answers that can be read again',
      4,
      /^([0-9a-f]+)$/,
      () => ({ path: '/backend-api/v2/conversation', body: { ...HI, resumable: true } }),
      ({ headers }) => headers['x-sluice-stream'],
    ],
    [
      'of who shares chats',
      6,
      /^sluice_owner=([\w-]+);/,
      (index) => share(`share-${index}`),
      ({ headers }) => headers['set-cookie']?.[0],
    ],
  ] satisfies [string, number, RegExp, (index: number) => Ask, (answer: Answer) => unknown][]) {
    test(`${what} have ${RANDOM_BITS} random bits`, async () => {
      const ids: string[] = [];
      for (let index = 0; index < ASKED; index += 1) {
        const answer = await world.ask(request(index));
        assert.equal(answer.status, 200, answer.text);
        ids.push(pattern.exec(String(find(answer)))?.[1] ?? assert.fail(answer.text));
      }
      assert.equal(new Set(ids).size, ASKED);
      // Of a time, a counter or a constant most digits stay as they are.
      const digits = Array.from(ids[0] ?? '', (_, at) => new Set(ids.map((id) => id[at])));
      const random = digits.filter((seen) => seen.size > ASKED / 8);
      assert.ok(random.length * bitsPerDigit >= RANDOM_BITS, `${ids[0]}, ${ids[1]}, ${ids[2]}`);
    });
  }
});
