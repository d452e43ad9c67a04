import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { noPostgres, PostgresServer } from '../support/postgres-server.ts';
import { type TcpRelay, tcpRelay } from '../support/tcp-relay.ts';
import { at, converse, type KeptWorld, lastBody, openKept, postJson, statusOf, told } from './kept-world.ts';

const OPTIONS = { skip: noPostgres ?? false, timeout: 180_000 } as const;
const MODEL = { model: 'acme/test-model' };

/** A node whose database is on a server. */
const openNode = (database: string): Promise<KeptWorld> => openKept(`database: "${database}"\n`);

const memory = (world: KeptWorld, user: string, texts: readonly string[]): Promise<Response> =>
  postJson(at(world, `memory/${user}`), { items: texts.map((content) => ({ role: 'user', content })) });

/** All items of a user, page by page. */
async function remembered(world: KeptWorld, user: string): Promise<readonly { id: string; memory: string }[]> {
  const found: { id: string; memory: string }[] = [];
  for (let page = 1; ; page += 1) {
    const { json } = await told(fetch(at(world, `memory/${user}?page=${page}&page_size=1000`)));
    found.push(...json.results);
    if (json.next === null) return found;
  }
}

describe('two nodes with one database on a server', OPTIONS, () => {
  let server: PostgresServer;
  let nodes: readonly KeptWorld[];
  let one: KeptWorld;
  let other: KeptWorld;
  const stops: (() => unknown)[] = [];
  before(async () => {
    server = await PostgresServer.start({ after: (stop) => void stops.push(stop) });
    const database = await server.newDatabase();
    // Both find it empty, and make the tables at once.
    nodes = [one, other] = await Promise.all([openNode(database), openNode(database)]);
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    for (const stop of stops) await stop();
  });

  test('lose none of 10,000 items that both write into one memory, and no two have one id', async () => {
    const names = nodes.flatMap((_, node) => Array.from({ length: 5_000 }, (_, n) => `item ${n} of node ${node}`));
    const batches = Array.from({ length: 100 }, (_, n) => names.slice(n * 100, n * 100 + 100));
    await Promise.all(
      batches.map(async (texts, n) => {
        const response = await memory(nodes[Math.floor(n / 50)] ?? one, 'ada', texts);
        assert.deepEqual((await told(response)).json, { count: 100 });
      }),
    );
    for (const node of nodes) {
      const items = await remembered(node, 'ada');
      assert.deepEqual(items.map((item) => item.memory).sort(), [...names].sort());
      assert.equal(new Set(items.map(({ id }) => id)).size, 10_000);
    }
  });

  test('write one chat: the newest counts, whole, for both, and only its owner writes', async () => {
    const first = await postJson(at(one, 'chat/both'), { id: 'both', updated: 1, items: [] });
    const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    assert.equal((await told(postJson(at(other, 'chat/both'), { id: 'both', updated: 1_000 }))).status, 403);
    const versions = Array.from({ length: 100 }, (_, n) => ({ id: 'both', updated: n + 2, items: ['x'.repeat(n)] }));
    await Promise.all(
      versions.map(async (version, n) => {
        const { status } = await told(postJson(at(nodes[n % 2] ?? one, 'chat/both'), version, { cookie }));
        assert.ok(status === 200 || status === 409, `${status}: only what is older than what is there is refused`);
      }),
    );
    const [seen, seenByOther] = await Promise.all(
      nodes.map(async (node) => (await told(fetch(at(node, 'chat/both')))).json),
    );
    assert.deepEqual(seen, seenByOther);
    assert.deepEqual(seen, versions.at(-1));
  });

  test('write one conversation: every item stands in it once, in one order for both', async () => {
    const { id } = (await told(postJson(`${one.origin}/v1/conversations`, {}))).json;
    const item = (content: string) => ({ items: [{ type: 'message', role: 'user', content }] });
    const names = Array.from({ length: 200 }, (_, n) => `message ${n}`);
    await Promise.all(
      names.map(async (name, n) => {
        const { status } = await told(postJson(`${nodes[n % 2]?.origin}/v1/conversations/${id}/items`, item(name)));
        assert.equal(status, 200);
      }),
    );
    const texts = async (node: KeptWorld): Promise<readonly string[]> => {
      const found: string[] = [];
      for (let last = ''; ; ) {
        const query = `limit=100&order=asc${last === '' ? '' : `&after=${last}`}`;
        const { json } = await told(fetch(`${node.origin}/v1/conversations/${id}/items?${query}`));
        found.push(...json.data.map((each: { content: [{ text: string }] }) => each.content[0].text));
        if (json.has_more !== true) return found;
        last = json.last_id;
      }
    };
    assert.deepEqual([...(await texts(one))].sort(), [...names].sort());
    assert.deepEqual(await texts(one), await texts(other));
  });

  test('go on with each other’s answers, and count the usage of both', async () => {
    const first = (await told(postJson(`${one.origin}/v1/responses`, { ...MODEL, input: 'Hi' }))).json;
    const next = await told(
      postJson(`${other.origin}/v1/responses`, { ...MODEL, input: 'And?', previous_response_id: first.id }),
    );
    assert.equal(next.status, 200);
    assert.deepEqual(
      lastBody(other).messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
    await Promise.all(nodes.map((node) => converse(node, { ...MODEL, messages: [{ role: 'user', content: 'Hi' }] })));
    const requestsSeen = async (node: KeptWorld): Promise<unknown> =>
      (await told(fetch(at(node, 'stats')))).json?.totals?.requests;
    for (const node of nodes) await eventually('all four are counted', async () => (await requestsSeen(node)) === 4);
  });
});

describe('a database server that goes away', OPTIONS, () => {
  let server: PostgresServer;
  let relay: TcpRelay;
  let node: KeptWorld;
  const stops: (() => unknown)[] = [];
  before(async () => {
    // What is committed would be on the disk 10 s later, if the node let it.
    const lazy = ['fsync=off', 'synchronous_commit=off', 'wal_writer_delay=10s', 'wal_writer_flush_after=0'];
    server = await PostgresServer.start({ after: (stop) => void stops.push(stop) }, lazy);
    const database = new URL(await server.newDatabase());
    relay = await tcpRelay({ after: (stop) => void stops.push(stop) }, Number(database.port));
    database.port = `${relay.port}`;
    node = await openNode(database.href);
  });
  after(async () => {
    await node.close();
    for (const stop of stops) await stop();
  });
  const isReady = async (status: number) => (await statusOf(`${node.origin}/ready`)) === status;

  test('is told to whoever wants something kept, and keeps nobody from an answer; what was acknowledged is there again', async () => {
    const kept: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      assert.equal((await told(memory(node, 'ada', [`before ${n}`]))).status, 200);
      kept.push(`before ${n}`);
    }
    await server.stop();

    const refused = await told(memory(node, 'ada', ['lost']));
    assert.deepEqual([refused.status, refused.code], [507, 'storage_failed']);
    assert.match(refused.message, /The database server cannot be reached/);
    assert.equal(await statusOf(at(node, 'memory/ada')), 507);
    assert.equal(await statusOf(`${node.origin}/ready`), 503);
    const answer = await told(
      postJson(`${node.origin}/v1/chat/completions`, { ...MODEL, messages: [{ role: 'user', content: 'Hi' }] }),
    );
    assert.equal(answer.json.choices[0].message.content, 'Hello world');

    await server.resume();
    await eventually('it is ready again', () => isReady(200));
    // Usage of the time without it is not lost.
    await eventually('the answer is counted', async () => {
      const { json } = await told(fetch(at(node, 'stats')));
      return json.totals?.requests === 1;
    });
    assert.deepEqual((await remembered(node, 'ada')).map((item) => item.memory).sort(), kept.sort());
    assert.equal((await told(memory(node, 'ada', ['after']))).status, 200);
  });

  test('while nobody asks, and is there again, is missed by nobody who only reads', async () => {
    const read = () => Promise.all(Array.from({ length: 20 }, () => statusOf(at(node, 'memory/ada'))));
    assert.deepEqual(new Set(await read()), new Set([200]));
    relay.forget();
    assert.deepEqual(new Set(await read()), new Set([200]));
  });

  test('is named nowhere with its password, user or address', () => {
    const { username, password, port } = new URL(server.address('x'));
    assert.match(node.logged(), /storage is out of order: The database server cannot be reached/);
    for (const secret of [password, decodeURIComponent(password), `${username}:`])
      assert.ok(!node.logged().includes(secret), secret);
    assert.ok(port !== '');
  });
});

describe('a database server that is not there at the start', OPTIONS, () => {
  const stops: (() => unknown)[] = [];
  after(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  test('is waited for by nobody, and used once it is there', async () => {
    const server = await PostgresServer.start({ after: (stop) => void stops.push(stop) });
    const database = await server.newDatabase();
    await server.stop();
    const node = await openNode(database);
    stops.push(() => node.close());
    const { choices } = (
      await told(
        postJson(`${node.origin}/v1/chat/completions`, { ...MODEL, messages: [{ role: 'user', content: 'Hi' }] }),
      )
    ).json;
    assert.equal(choices[0].message.content, 'Hello world');
    assert.equal((await told(memory(node, 'ada', ['early']))).status, 507);
    await server.resume();
    await eventually('it keeps', async () => (await told(memory(node, 'ada', ['late']))).status === 200);
    assert.deepEqual(
      (await remembered(node, 'ada')).map((item) => item.memory),
      ['late'],
    );
  });
});
