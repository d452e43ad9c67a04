import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, type TestContext, test } from 'node:test';
import { openStores } from '../../src/stores/index.ts';
import { TABLES } from '../../src/stores/move.ts';
import { migrate } from '../../src/stores/sqlite/migrations.ts';
import { testLogger } from '../support/call.ts';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { noPostgres, PostgresServer } from '../support/postgres-server.ts';
import { type Ended, runSluice, startSluice } from '../support/run-sluice.ts';
import { at, type KeptWorld, openKept, postJson, told, upload } from './kept-world.ts';

const MODEL = { model: 'acme/test-model' };
const TEXTS = [
  'The boat is called Albatross',
  'Пароход по имени Чайка',
  '船の名前はアホウドリです',
  '서울에서 산 배',
  'a\0b \ud800 c',
];
const SEARCHES = ['albatross', 'чайка', 'アホウドリ', '서울', 'c'];

/** Everything that a `sluice.db` may hold, put there as clients do it. */
async function fill(world: KeptWorld): Promise<{ response: string; conversation: string; file: string }> {
  const done = async (answer: Promise<Response>) => {
    const { status, json } = await told(answer);
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  };
  await done(postJson(at(world, 'chat/shared'), { id: 'shared', updated: 1, items: ['a\0b \ud800 🦩'] }));
  const items = TEXTS.map((content, n) => ({ role: 'user', content, metadata: { n, isOdd: n % 2 === 1, none: null } }));
  await done(postJson(at(world, 'memory/ada'), { items }));
  await upload(world, 'papers', ['one.txt', 'Text of a paper: 船'], ['two.md', '# Second']);
  const response = await done(postJson(`${world.origin}/v1/responses`, { ...MODEL, input: 'Hi' }));
  const message = (content: string) => ({ type: 'message', role: 'user', content });
  const conversation = await done(
    postJson(`${world.origin}/v1/conversations`, { metadata: { of: 'ada' }, items: [message('one'), message('two')] }),
  );
  // Numbers of what is added later have to go on behind those of what was there.
  await done(postJson(`${world.origin}/v1/conversations/${conversation.id}/items`, { items: [message('three')] }));
  const form = new FormData();
  form.append('purpose', 'user_data');
  form.append('file', new File(['bytes'], 'Grüße.txt'));
  const file = await done(fetch(`${world.origin}/v1/files`, { method: 'POST', body: form }));
  await done(postJson(at(world, 'log'), { message: 'It went wrong: 船' }));
  await eventually('the answer is counted', async () => (await stats(world)).totals?.requests === 1);
  return { response: response.id, conversation: conversation.id, file: file.id };
}

const stats = async (world: KeptWorld) => (await told(fetch(at(world, 'stats')))).json;

/** What clients see of all that. */
async function seen(world: KeptWorld, ids: Awaited<ReturnType<typeof fill>>) {
  const { days, models, providers, users, totals } = await stats(world);
  const texts = (path: string) =>
    Promise.all([fetch(at(world, path)), fetch(`${world.origin}/v1/${path}`)].map(async (each) => (await each).text()));
  const json = async (url: string) => (await told(fetch(url))).json;
  const found = await Promise.all(
    [...SEARCHES, 'submarine'].map(async (search) =>
      (await json(at(world, `memory/ada?search=${encodeURIComponent(search)}`))).results.map(
        (item: { memory: string }) => item.memory,
      ),
    ),
  );
  return {
    chat: await json(at(world, 'chat/shared')),
    memory: await json(at(world, 'memory/ada')),
    found,
    odd: await json(at(world, `memory/ada?filters=${encodeURIComponent('{"isOdd":true,"none":null}')}`)),
    bucket: (await texts('files/papers'))[0],
    response: await json(`${world.origin}/v1/responses/${ids.response}`),
    conversation: await json(`${world.origin}/v1/conversations/${ids.conversation}`),
    items: await json(`${world.origin}/v1/conversations/${ids.conversation}/items?order=asc`),
    file: await json(`${world.origin}/v1/files/${ids.file}`),
    content: (await texts(`files/${ids.file}/content`))[1],
    day: (await texts(`usage/${days.at(-1).date}`))[0],
    stats: { days, models, providers, users, totals },
  };
}

test('every table of a sluice.db is taken along', () => {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const names = database
    .prepare("select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'")
    .all()
    .map(({ name }) => String(name));
  assert.deepEqual(names.filter((name) => name !== 'schema_versions').sort(), TABLES.map(({ name }) => name).sort());
});

describe('sluice move', { skip: noPostgres ?? false, timeout: 180_000 }, () => {
  let server: PostgresServer;
  const stops: (() => unknown)[] = [];
  before(async () => {
    server = await PostgresServer.start({ after: (stop) => void stops.push(stop) });
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  const run = (context: TestContext, dataDir: string, words: readonly string[]): Promise<Ended> =>
    runSluice(context, ['move', '--data-dir', dataDir, ...words], { folder: dataDir });
  const nameOf = (database: string) => new URL(database).pathname.slice(1);
  /** How many rows each table on the server has. */
  const countsOf = async (database: string): Promise<Readonly<Record<string, unknown>>> => {
    const counts = TABLES.map(({ name }) => `(select count(*)::integer from sluice.${name}) as ${name}`);
    return { ...(await server.ask(`select ${counts}`, nameOf(database)))[0] };
  };
  const EMPTY = Object.fromEntries(TABLES.map(({ name }) => [name, 0]));
  /** A folder with a `sluice.db` that holds a chat and an item of memory. */
  async function small(context: TestContext): Promise<string> {
    const dataDir = temporaryFolder(context);
    const stores = openStores({ dataDir }, testLogger());
    await stores.chats.put({ id: 'a', owner: null, updated: 0, body: 'text' });
    const item = { id: 'a', userId: 'u', role: 'user', text: 'boat', conversationId: null, metadata: {} };
    await stores.memory.add([{ ...item, createdAt: 1, updatedAt: 1 }]);
    await stores.close();
    return dataDir;
  }

  test('takes along what clients have kept: all of it is there with the database on the server, and goes on', async (context) => {
    const dataDir = temporaryFolder(context);
    const database = await server.newDatabase();
    const former = await openKept(`dataDir: "${dataDir}"\n`);
    const ids = await fill(former);
    const expected = await seen(former, ids);
    await former.close();

    const { code, stdout, stderr } = await run(context, dataDir, ['--database', database]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^ {2}5 +items of memory$/m);
    assert.match(stdout, /^ {2}3 +items of conversations$/m);
    for (const [name, count] of Object.entries(await countsOf(database))) assert.ok(Number(count) > 0, name);

    const latter = await openKept(`dataDir: "${dataDir}"\ndatabase: "${database}"\n`);
    context.after(() => latter.close());
    // NUL is the one thing that PostgreSQL has no text for; in JSON it is.
    const { memory, found, ...same } = expected;
    assert.ok(JSON.stringify([memory, found]).includes('\\u0000') && JSON.stringify(same).includes('\\u0000'));
    const changed = JSON.parse(JSON.stringify({ memory, found }).replaceAll('\\u0000', '\ufffd'));
    assert.deepEqual(await seen(latter, ids), { ...same, ...changed });
    const more = { items: [{ type: 'message', role: 'user', content: 'four' }] };
    const added = await told(postJson(`${latter.origin}/v1/conversations/${ids.conversation}/items`, more));
    assert.equal(added.status, 200);
    const { json } = await told(fetch(`${latter.origin}/v1/conversations/${ids.conversation}/items?order=asc`));
    assert.deepEqual(
      json.data.map((item: { content: [{ text: string }] }) => item.content[0].text),
      ['one', 'two', 'three', 'four'],
    );
  });

  test('leaves the file as it is, byte by byte', async (context) => {
    const dataDir = await small(context);
    const file = path.join(dataDir, 'sluice.db');
    const bytes = readFileSync(file);
    assert.equal((await run(context, dataDir, ['--database', await server.newDatabase()])).code, 0);
    assert.ok(readFileSync(file).equals(bytes));
  });

  test('knows every column that the tables on the server have', async (context) => {
    const dataDir = await small(context);
    const database = await server.newDatabase();
    assert.equal((await run(context, dataDir, ['--database', database])).code, 0);
    const file = new DatabaseSync(path.join(dataDir, 'sluice.db'), { readOnly: true });
    context.after(() => file.close());
    for (const { name, more } of TABLES) {
      const onServer = await server.ask(
        `select column_name from information_schema.columns where table_schema = 'sluice' and table_name = '${name}'`,
        nameOf(database),
      );
      const added = Object.keys(more?.({ text: '', metadata: '{}' }) ?? {});
      const copied = file.prepare(`select name from pragma_table_info('${name}')`).all();
      assert.deepEqual(
        onServer.map((row) => row['column_name']).sort(),
        [...copied.map((row) => row['name']), ...added].sort(),
        name,
      );
    }
  });

  test('refuses a database that holds something, and says what', async (context) => {
    const dataDir = await small(context);
    const database = await server.newDatabase();
    assert.equal((await run(context, dataDir, ['--database', database])).code, 0);
    const { code, stdout, stderr } = await run(context, dataDir, ['--database', database]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(
      stderr,
      'sluice: nothing was copied: The database on the server holds something already: chats, buckets, stored responses and caches; items of memory.\n',
    );
    assert.deepEqual(await countsOf(database), { ...EMPTY, records: 1, memory: 1 });
  });

  test('leaves the database empty where it fails in the middle', async (context) => {
    const dataDir = await small(context);
    const database = await server.newDatabase();
    const stores = openStores({ dataDir, database }, testLogger());
    await stores.chats.get('a');
    await stores.close();
    await server.ask("alter table sluice.memory add check (text <> 'boat')", nameOf(database));
    const { code, stdout, stderr } = await run(context, dataDir, ['--database', database]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^sluice: nothing was copied: The database refused a statement\. .*memory_text_check/);
    assert.deepEqual(await countsOf(database), EMPTY);
  });

  test('refuses while a Sluice runs with the file, and takes along what a killed one had acknowledged', async (context) => {
    const dataDir = await small(context);
    writeFileSync(path.join(dataDir, 'sluice.yaml'), 'embedded: { enabled: false }\ndetectLocal: false\n');
    const running = startSluice(context, ['--bind', '127.0.0.1:0'], { folder: dataDir });
    const [, address = ''] = await running.said(/Page +(http:\/\/\S+)\//);
    const database = await server.newDatabase();
    const { code, stderr } = await run(context, dataDir, ['--database', database]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^sluice: nothing was copied: \S+sluice\.db is in use: end the Sluice that runs with it first\.\n$/,
    );
    const { status } = await told(postJson(at({ origin: address }, 'chat/late'), { id: 'late', updated: 1 }));
    assert.equal(status, 200);
    running.process.kill('SIGKILL');
    await running.ended;
    assert.equal((await run(context, dataDir, ['--database', database])).code, 0);
    assert.deepEqual(await countsOf(database), { ...EMPTY, records: 2, memory: 1 });
  });

  test('says what it lacks: a database, a file, a server', async (context) => {
    const dataDir = await small(context);
    const none = await run(context, dataDir, []);
    assert.equal(none.code, 2);
    assert.match(none.stderr, /^sluice: no database to move to: name it with --database/);
    const empty = path.join(dataDir, 'empty');
    mkdirSync(empty);
    const database = await server.newDatabase();
    const noFile = await run(context, empty, ['--database', database]);
    assert.equal(noFile.code, 1);
    assert.match(noFile.stderr, /^sluice: nothing to move: there is no \S+sluice\.db\n$/);
    const noServer = await run(context, dataDir, ['--database', `${database}_of_nobody`]);
    assert.equal(noServer.code, 1);
    assert.match(
      noServer.stderr,
      /^sluice: nothing was copied: database sluice_\d+_of_nobody on .* has no such database/,
    );
    for (const { stderr } of [none, noFile, noServer])
      assert.ok(!stderr.includes(decodeURIComponent(new URL(database).password)));
  });
});
