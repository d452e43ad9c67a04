import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  at,
  converse,
  form,
  type KeptWorld,
  openKept,
  postJson,
  remove,
  statusOf,
  told,
  upload,
} from './kept-world.ts';

const MODEL = { model: 'acme/test-model' };
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const ITEM = { type: 'message', role: 'user', content: 'Hi' };

/** A form with one file. */
function oneFile(name: string, content: string, fields: Readonly<Record<string, string>> = {}): FormData {
  const data = new FormData();
  for (const [field, value] of Object.entries(fields)) data.set(field, value);
  data.set('file', new File([content], name));
  return data;
}

describe('a storage that is gone while Sluice runs', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  /** What was stored before, by its id. */
  const known = { item: '', file: '', conversation: '', message: '', response: '' };
  before(async () => {
    world = await openKept();
    const make = async (url: string, body: unknown): Promise<string> => (await told(postJson(url, body))).json.id;
    await upload(world, 'present', ['a.txt', 'a']);
    assert.equal(await statusOf(at(world, 'memory/ada'), memory), 200);
    known.item = (await told(fetch(at(world, 'memory/ada')))).json.results[0].id;
    const body = oneFile('a.txt', 'a', { purpose: 'user_data' });
    known.file = (await told(fetch(`${world.origin}/v1/files`, { method: 'POST', body }))).json.id;
    known.conversation = await make(`${world.origin}/v1/conversations`, { items: [ITEM] });
    const items = await told(fetch(`${world.origin}/v1/conversations/${known.conversation}/items`));
    known.message = items.json.data[0].id;
    known.response = await make(`${world.origin}/v1/responses`, { ...MODEL, input: 'Hi' });
    const data = path.join(world.folder, 'data');
    renameSync(data, `${data} elsewhere`);
    writeFileSync(data, 'a file in its place');
  });
  after(() => world.close());

  const json = (body: unknown): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const memory = json({ items: [{ role: 'user', content: 'I live in Bergen.' }] });

  test('is told to whoever wants something written or deleted', async () => {
    const uploading = { 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start' };
    const conversation = `/v1/conversations/${known.conversation}`;
    const writes: readonly (readonly [path: string, init: RequestInit])[] = [
      ['/backend-api/v2/chat/new', json({ id: 'new' })],
      ['/backend-api/v2/memory/ada', memory],
      ['/backend-api/v2/memory/ada', { method: 'DELETE' }],
      [`/backend-api/v2/memory/ada/${known.item}`, { method: 'DELETE' }],
      ['/backend-api/v2/usage', json({ model: 'test-model', total_tokens: 1 })],
      ['/backend-api/v2/log', json({ message: 'It went wrong.' })],
      ['/backend-api/v2/files/new', { method: 'POST', body: form([['a.txt', 'a']]) }],
      ['/backend-api/v2/files/present', { method: 'POST', body: form([['b.txt', 'b']]) }],
      ['/backend-api/v2/files/present', { method: 'DELETE' }],
      [
        '/backend-api/v2/upload_cookies',
        { method: 'POST', body: oneFile('cookies.json', '[{"domain":"a.example","name":"n","value":"v"}]') },
      ],
      ['/backend-api/v2/requests', { method: 'DELETE' }],
      ['/v1/files', { method: 'POST', body: oneFile('b.txt', 'b', { purpose: 'user_data' }) }],
      [`/v1/files/${known.file}`, { method: 'DELETE' }],
      ['/upload/v1beta/files', { ...json({}), headers: { ...uploading, 'content-type': 'application/json' } }],
      ['/v1/conversations', json({ items: [ITEM] })],
      [conversation, json({ metadata: { a: 'b' } })],
      [`${conversation}/items`, json({ items: [ITEM] })],
      [`${conversation}/items/${known.message}`, { method: 'DELETE' }],
      [conversation, { method: 'DELETE' }],
      ['/v1/responses', json({ ...MODEL, input: 'Hi', background: true })],
      [`/v1/responses/${known.response}`, { method: 'DELETE' }],
    ];
    for (const [address, init] of writes) {
      const answer = await told(fetch(`${world.origin}${address}`, init));
      const name = `${init.method} ${address}: ${JSON.stringify(answer.json)}`;
      assert.equal(answer.status, 507, name);
      assert.doesNotMatch(answer.message, /\/|sqlite|ENOTDIR/i, name);
    }
  });

  test('keeps nobody from an answer, which does not say that it was stored', async () => {
    const chat = await told(postJson(`${world.origin}/v1/chat/completions`, { ...MODEL, messages: MESSAGES }));
    assert.equal(chat.json.choices[0].message.content, 'Hello world');
    const message = { ...MODEL, messages: MESSAGES, max_tokens: 9 };
    assert.equal((await told(postJson(`${world.origin}/v1/messages`, message))).json.content[0].text, 'Hello world');
    const events = await converse(world, { ...MODEL, messages: MESSAGES });
    assert.equal(events.at(-1)?.type, 'finish');
    const plain = await fetch(at(world, 'create?provider=acme&model=test-model&prompt=Hi&cache=true'));
    assert.equal(await plain.text(), 'Hello world');
    const { status, json } = await told(postJson(`${world.origin}/v1/responses`, { ...MODEL, input: 'Hi' }));
    assert.deepEqual([status, json.status, json.store], [200, 'completed', false]);
    assert.notEqual((await told(remove(`${world.origin}/v1/responses/${json.id}`))).status, 200);
  });
});
