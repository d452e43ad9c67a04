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

/** What means something to a file system, a database, a header or a script, and what only looks like an id. */
const HOSTILE: readonly string[] = [
  '.',
  '..',
  '...',
  '*',
  '%25',
  '%5f',
  '_%25',
  'vic*',
  'vict%25',
  'victi_',
  'VICTIM',
  'victim%20',
  '%20victim',
  'victim.',
  'victim%2e',
  'victim%00',
  'victim%0a',
  'victim%0d%0ax-evil:1',
  'victim%2f',
  'victim%2f..%2fvictim',
  'x%2f..%2fvictim',
  '..%2fvictim',
  '%2e%2e%2fvictim',
  '..%5cvictim',
  '%252e%252e%252fvictim',
  'victim;x',
  'victim%3fx',
  'victim%23x',
  'victim:$DATA',
  'C:%5cvictim',
  '%2fetc%2fpasswd',
  'victim%27%20or%20%271%27=%271',
  '%27;drop%20table%20records;--',
  '%22%20or%20%22%22=%22',
  '%7b%7b7*7%7d%7d',
  '$%7b7*7%7d',
  '%3cscript%3e',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  'true',
  '[object%20Object]',
  '%7b%22a%22:1%7d',
  'v%c3%adctim',
  '%ef%bd%96ictim',
  '%e2%80%aevictim',
  'victim%e2%80%8b',
  '%ed%a0%80',
  '%ff',
  'x'.repeat(65),
  'x'.repeat(4_000),
];

/** Of the form of an id: another one's, of which nothing is known yet. */
const isId = (text: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(text);

describe('ids that clients name', () => {
  let world: World;
  /** Something of every kind that is kept by an id. */
  const victims: string[] = [];
  before(async () => {
    world = await openWorld({ yaml: 'observe: { requestLog: none }\n' });
    const form = (field: string, more = ''): Pick<Ask, 'method' | 'headers' | 'body'> => ({
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: `${more}--x\r\nContent-Disposition: form-data; name="${field}"; filename="a.txt"\r\n\r\nmine\r\n--x--\r\n`,
    });
    const purpose = '--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n';
    const items = [{ role: 'user', content: 'mine' }];
    for (const [request, place] of [
      [{ path: '/backend-api/v2/files/victim', ...form('files') }, () => '/backend-api/v2/files/victim'],
      [{ path: '/backend-api/v2/chat/victim', body: { text: 'mine' } }, () => '/backend-api/v2/chat/victim'],
      [{ path: '/backend-api/v2/memory/victim', body: { items } }, () => '/backend-api/v2/memory/victim'],
      [{ path: '/v1/files', ...form('file', purpose) }, (id) => `/v1/files/${id}/content`],
      [{ path: '/v1/conversations', body: { items } }, (id) => `/v1/conversations/${id}/items`],
      [
        { path: '/v1/responses', body: { model: 'test-model', input: 'mine' } },
        (id) => `/v1/responses/${id}/input_items`,
      ],
    ] satisfies [Ask, (id: string) => string][]) {
      const answer = await world.ask(request);
      assert.equal(answer.status, 200, answer.text);
      victims.push(place((answer.json as { id: string }).id));
    }
  });
  after(() => world.close());

  const kept = async (): Promise<readonly string[]> => {
    const answers: string[] = [];
    for (const path of victims) {
      const { status, text } = await world.ask({ path });
      assert.equal(status, 200, path);
      assert.match(text, /mine/, path);
      answers.push(text);
    }
    return answers;
  };

  test('lead nowhere on any path, and take nothing away', { timeout: 120_000 }, async () => {
    const { json } = await world.ask({ path: '/openapi.json' });
    const paths = Object.entries((json as { paths: Record<string, object> }).paths).filter(([path]) =>
      path.includes('{'),
    );
    assert.ok(paths.length > 30, `${paths.length} paths with names are few`);
    const before = await kept();
    const asked = world.upstream.chats.length;
    for (const [template, item] of paths) {
      for (const method of Object.keys(item)) {
        // What is sent may be looked at before the name is.
        const refusals = method === 'post' ? [400, 404, 414, 415, 422] : [400, 404, 414];
        for (const id of HOSTILE) {
          const path = template.replaceAll(/\{\w+\}/g, () => id);
          const body = method === 'post' ? { body: {} } : {};
          const { status, headers, text } = await world.ask({ method: method.toUpperCase(), path, ...body });
          const hint = `${method} ${path.slice(0, 200)}: ${status} ${text.slice(0, 200)}`;
          assert.ok(refusals.includes(status) || (status === 200 && isId(id)), hint);
          if (method === 'get') assert.doesNotMatch(text, /mine/, hint);
          assert.equal(headers['x-evil'], undefined, hint);
        }
      }
    }
    assert.equal(world.upstream.chats.length, asked);
    assert.deepEqual(await kept(), before);
  });
});
