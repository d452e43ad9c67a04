import assert from 'node:assert/strict';
import type { Random } from '../../test/fuzz/random.ts';
import { form, postJson, told, upload } from '../../test/journeys/kept-world.ts';
import type { Fault } from '../../test/support/openai-faults.ts';
import { ask, askChat, askConversation, begin, readConversation } from '../../test/support/wire-answers.ts';
import { FAULTS, judge, WAYS, type Way } from './chats.ts';

/** One kind of request. It returns how it went, and throws when that is not what was to happen. */
export interface Actor {
  readonly name: string;
  /** How often, among all. */
  readonly weight: number;
  act(origin: string, random: Random): Promise<'answered' | 'failed'>;
}

/** What the upstream says when nothing is wrong. */
export const HELLO = ['Hello', ' from', ' the', ' upstream: ', 'Grüße, 世界.'];
/** A model whose answers take their time, for clients that leave. */
export const SLOW = 'slow-model';
/** Of the chats of each dialect, so many meet a fault. */
const FAULTY = 0.3;

const good: Fault = { expected: { kind: 'text', text: HELLO.join('') }, answer: () => {} };

function chat([name, way]: readonly [string, Way]): Actor {
  const fits = FAULTS.filter(([, fault]) => fault.stream !== false || way.isWhole === true);
  return {
    name,
    weight: 10,
    async act(origin, random) {
      const [model, fault] = (random.chance(FAULTY) ? fits[random.below(fits.length)] : undefined) ?? [
        'test-model',
        good,
      ];
      try {
        return judge(way, await way.ask(origin, model), fault.expected);
      } catch (error) {
        throw new Error(`${model}: ${error instanceof Error ? error.message : error}`, { cause: error });
      }
    },
  };
}

/**
 * Prompts of which only the outline is parsed, and some that are just too short for that. Few and not longer than it takes: V8 collects
 * all of its heap for what bodies hold outside of it, and over five minutes such teeth would look like a rise.
 */
const longPrompts: Actor = {
  name: 'long prompts',
  weight: 1,
  async act(origin, random) {
    const words = 5_000 + random.below(10_000);
    const messages = [{ role: 'user', content: `${'Grüße, \n"世界". '.repeat(words / 5)}${random.below(1e9)}` }];
    const isWhole = random.chance(0.5);
    const body = { provider: 'mock', model: 'test-model', messages, stream: !isWhole };
    const way = WAYS[isWhole ? 'v1, whole' : 'v1, streamed'];
    assert.ok(way !== undefined);
    return judge(way, await askChat(origin, body), good.expected);
  },
};

/** Turns of a conversation that the server keeps. */
const conversations: Actor = {
  name: 'conversations that are kept',
  weight: 4,
  async act(origin, random) {
    const { id } = (await (
      await expectStatus(200, fetch(`${origin}/v1/conversations`, { method: 'POST' }))
    ).json()) as {
      id: string;
    };
    for (let turn = 0; turn < 2; turn += 1) {
      const input = `Turn ${turn}, ${random.below(1e9)}`;
      const body = { model: 'mock/test-model', input, conversation: id, store: false, stream: random.chance(0.5) };
      const answer = await ask(origin, '/v1/responses', body);
      assert.equal(answer.status, 200, answer.body.slice(0, 300));
    }
    const address = `${origin}/v1/conversations/${id}`;
    const { data } = (await (await expectStatus(200, fetch(`${address}/items`))).json()) as { data: unknown[] };
    assert.equal(data.length, 4);
    await finish(await expectStatus(200, fetch(address, { method: 'DELETE' })));
    await finish(await expectStatus(404, fetch(address)));
    return 'answered';
  },
};

const backend = (origin: string, path: string): string => `${origin}/backend-api/v2/${path}`;
const idOf = (kind: string, random: Random): string => `soak-${kind}-${random.below(1e9).toString(36)}`;

async function expectStatus(status: number, response: Response | Promise<Response>): Promise<Response> {
  const settled = await response;
  if (settled.status !== status) assert.fail(`status ${settled.status}: ${(await settled.text()).slice(0, 300)}`);
  return settled;
}

async function finish(response: Response): Promise<string> {
  return await response.text();
}

/** Uploads, asks about it with a search of the web, and deletes it again. */
const files: Actor = {
  name: 'upload, ask about it',
  weight: 4,
  async act(origin, random) {
    const id = idOf('bucket', random);
    const csv = `name,size\n${Array.from({ length: 200 }, (_, index) => `item ${index},${index}`).join('\n')}\n`;
    const { files: names } = await upload(
      { origin },
      id,
      ['notes.txt', `The office opens at nine. ${id}`],
      ['a.csv', csv],
    );
    assert.equal(names.length, 2);
    const content = [{ bucket_id: id }, { type: 'text', text: 'When does it open?' }];
    const messages = [{ role: 'user', content }];
    const answer = readConversation(await askConversation(origin, { provider: 'mock', model: 'test-model', messages }));
    assert.equal(answer.text, HELLO.join(''));
    assert.match(await finish(await expectStatus(200, fetch(backend(origin, `files/${id}`)))), /opens at nine/);
    await finish(await expectStatus(200, fetch(backend(origin, `files/${id}`), { method: 'DELETE' })));
    return 'answered';
  },
};

const search: Actor = {
  name: 'search of the web',
  weight: 3,
  async act(origin, random) {
    const body = { provider: 'mock', model: 'test-model', web_search: `tortoises ${random.below(1000)}` };
    const { text } = readConversation(await askConversation(origin, body));
    assert.match(text, /^Hello from[\s\S]*> \[1\] \[/);
    return 'answered';
  },
};

const chats: Actor = {
  name: 'shared chats',
  weight: 4,
  async act(origin, random) {
    const address = backend(origin, `chat/${idOf('chat', random)}`);
    const body = {
      id: 'c',
      title: 'Tides',
      updated: 1,
      items: [{ role: 'user', content: 'x'.repeat(random.below(5000)) }],
    };
    const shared = await expectStatus(200, postJson(address, body));
    const cookie = shared.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    await finish(shared);
    assert.deepEqual(await (await expectStatus(200, fetch(address))).json(), body);
    await finish(await expectStatus(403, postJson(address, { ...body, updated: 2 })));
    const files = address.replace('/chat/', '/files/');
    await finish(await expectStatus(200, fetch(files, { method: 'DELETE', headers: { cookie } })));
    await finish(await expectStatus(404, fetch(address)));
    return 'answered';
  },
};

const memory: Actor = {
  name: 'memory',
  weight: 4,
  async act(origin, random) {
    const address = backend(origin, `memory/${idOf('user', random)}`);
    const post = await told(
      postJson(address, {
        items: ['I like green tea.', 'I live in Porto.'].map((content) => ({ role: 'user', content })),
      }),
    );
    assert.equal(post.status, 200, post.message);
    assert.match(await finish(await expectStatus(200, fetch(`${address}?search=tea`))), /green tea/);
    await finish(await expectStatus(200, fetch(address, { method: 'DELETE' })));
    return 'answered';
  },
};

const speech: Actor = {
  name: 'speech',
  weight: 1,
  async act(origin, random) {
    const query = new URLSearchParams({
      text: `Number ${random.below(100_000)}.`,
      format: random.chance(0.5) ? 'wav' : 'mp3',
    });
    const answer = await expectStatus(200, fetch(backend(origin, `synthesize/flite?${query}`)));
    assert.ok((await answer.arrayBuffer()).byteLength > 1000);
    return 'answered';
  },
};

/** Clients that go away in the middle: what they asked for must end, too. */
const leaver: Actor = {
  name: 'clients that leave',
  weight: 3,
  async act(origin, random) {
    const isTyped = random.chance(0.5);
    const path = isTyped ? '/backend-api/v2/conversation' : '/v1/chat/completions';
    const messages = [{ role: 'user', content: 'Hi' }];
    const { response, leave } = begin(origin, path, { provider: 'mock', model: SLOW, messages, stream: true });
    const answer = await response;
    answer.on('error', () => {});
    assert.equal(answer.statusCode, 200);
    await new Promise((resolve) => answer.once('data', resolve));
    leave();
    return 'answered';
  },
};

/** Requests that are wrong are refused as such, whoever sends them. */
const wrong: Actor = {
  name: 'wrong requests',
  weight: 2,
  async act(origin, random) {
    const tries: readonly (() => Promise<number>)[] = [
      async () => (await ask(origin, '/v1/chat/completions', { messages: 'none' })).status,
      async () => (await ask(origin, '/v1/messages', { model: 'mock/test-model' })).status,
      async () => (await ask(origin, '/v1/nothing/here')).status,
      async () => (await fetch(backend(origin, 'files/..%2f..'), { method: 'POST', body: form([]) })).status,
    ];
    const status = await tries[random.below(tries.length)]?.();
    assert.ok(status !== undefined && status >= 400 && status < 500, `status ${status}`);
    return 'failed';
  },
};

/** All that clients do during a soak. */
export const ACTORS: readonly Actor[] = [
  ...Object.entries(WAYS).map(chat),
  longPrompts,
  conversations,
  files,
  search,
  chats,
  memory,
  speech,
  leaver,
  wrong,
];
