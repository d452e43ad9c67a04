import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { picture } from '../support/pictures.ts';
import { makeTinyGguf, TINY_ANSWER, TINY_SENTENCE } from '../support/tiny-gguf.ts';
import { at, contentOf, converse, type KeptWorld, lastBody, openKept } from './kept-world.ts';
import { openWorld } from './sdk-vendors.ts';

const QUESTION = { role: 'user', content: 'Tell me a story' };
const PARTIAL = { role: 'assistant', content: 'Once upon a ' };

describe('actions of the front end over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  test('continue: the model gets the answer so far last, and is told to go on', async () => {
    world.answers({ text: ['time', ' there was'] });
    const events = await converse(world, { action: 'continue', messages: [QUESTION, PARTIAL] });
    const { messages } = lastBody(world);
    assert.deepEqual(messages.slice(0, 2), [QUESTION, PARTIAL]);
    assert.equal(messages.length, 3);
    assert.equal(messages[2]?.role, 'user');
    assert.match(messages[2]?.content, /exactly where it ends/);
    assert.equal(contentOf(events), 'time there was', 'its pieces are appended as they are');
    assert.equal(lastBody(world)['action'], undefined);
  });

  test('continue after a search: the list of sources is no part of the answer that goes on', async () => {
    const content = 'It is 190\n\n> [1] [Jonathan](https://a.example/)\n>\n> [2] [B](https://b.example/)';
    await converse(world, { action: 'continue', messages: [QUESTION, { role: 'assistant', content }] });
    assert.equal(lastBody(world).messages[1]?.content, 'It is 190');
    const quote = { role: 'assistant', content: 'He said:\n\n> [1] is odd\n\nand went' };
    await converse(world, { action: 'continue', messages: [QUESTION, quote] });
    assert.deepEqual(lastBody(world).messages[1], quote, 'what only looks like it stays');
  });

  test('continue without an answer to go on with is a question', async () => {
    for (const messages of [[QUESTION], [QUESTION, { role: 'assistant', content: '' }]]) {
      await converse(world, { action: 'continue', messages });
      assert.deepEqual(lastBody(world).messages, [QUESTION]);
    }
  });

  test('continue with files: they belong to the question', async () => {
    const data = new FormData();
    data.append('json', JSON.stringify({ provider: 'acme', action: 'continue', messages: [QUESTION, PARTIAL] }));
    data.append('files', new File([new Uint8Array(await picture('#c03020'))], 'a.png', { type: 'image/png' }));
    const response = await fetch(at(world, 'conversation'), { method: 'POST', body: data });
    assert.equal(response.status, 200, await response.text());
    const { messages } = lastBody(world);
    assert.deepEqual(
      messages[0]?.content.map(({ type }: { type: string }) => type),
      ['image_url', 'text'],
    );
    assert.deepEqual(messages[1], PARTIAL);
  });

  test('an answer that was cut says that it can go on, and only that one', async () => {
    world.answers({ text: ['Once'], finish: 'length' });
    const cut = await converse(world, {});
    assert.deepEqual(cut.slice(-2), [
      { type: 'continue', continue: 'length' },
      { type: 'finish', finish: { reason: 'length' } },
    ]);
    world.answers({ text: ['Done'] });
    assert.ok(!(await converse(world, {})).some(({ type }) => type === 'continue'));
  });

  test('variant: asked anew each time, without the answer there was', async () => {
    const before = world.upstream.chats.length;
    const answers: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      world.answers({ text: [`Variant ${round}`] });
      const body = { action: 'variant', messages: [QUESTION, { role: 'assistant', content: 'The first answer' }] };
      answers.push(contentOf(await converse(world, body)));
      assert.deepEqual(lastBody(world).messages, [QUESTION]);
    }
    assert.deepEqual(answers, ['Variant 0', 'Variant 1', 'Variant 2']);
    assert.equal(world.upstream.chats.length - before, 3);
  });

  test('next leaves every message where it is', async () => {
    for (const action of ['next', undefined, null, 'whatever']) {
      await converse(world, { action, messages: [QUESTION, PARTIAL] });
      assert.deepEqual(lastBody(world).messages, [QUESTION, PARTIAL]);
    }
  });
});

describe('titles of chats over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  async function titleOf(body: object): Promise<unknown> {
    const events = await converse(world, body);
    const order = events.map(({ type }) => type);
    if (order.includes('title')) assert.ok(order.indexOf('content') < order.indexOf('title'));
    assert.equal(order.at(-1), 'finish');
    return events.find(({ type }) => type === 'title')?.['title'];
  }
  const chat = (content: unknown) => ({ conversation_id: 'c-1', messages: [{ role: 'user', content }] });

  for (const [content, title] of [
    ['How old do tortoises get?', 'How old do tortoises get?'],
    ['\n## **Plan** the `trip`\nto Rome', 'Plan the trip'],
    ['- see [the page](https://a.example/) ', 'see the page'],
    ['a\u202eb\u0007 c', 'a b c'],
    [
      'What would happen if every tortoise on the island started to walk towards the sea?',
      'What would happen if every tortoise on the island started…',
    ],
    ['x'.repeat(200), `${'x'.repeat(59)}…`],
    ['?! \u{1f600}', '?! \u{1f600}'],
    ['👩‍👩‍👧'.repeat(61), `${'👩‍👩‍👧'.repeat(59)}…`],
    [[{ type: 'text', text: 'Parts count too' }], 'Parts count too'],
    ['?!', undefined],
  ] as const) {
    test(`${JSON.stringify(content).slice(0, 60)}: ${title}`, async () => {
      assert.equal(await titleOf(chat(content)), title);
    });
  }

  test('only the first answer of a chat that the client keeps has one, unless the client says otherwise', async () => {
    const messages = [QUESTION];
    assert.equal(await titleOf({ messages }), undefined);
    assert.equal(await titleOf({ messages, title: true }), 'Tell me a story');
    assert.equal(lastBody(world)['title'], undefined);
    assert.equal(await titleOf({ ...chat('Hi there'), title: false }), undefined);
    assert.equal(await titleOf({ ...chat('Hi there'), action: 'variant' }), undefined);
    const later = [QUESTION, { role: 'assistant', content: 'Once' }, { role: 'user', content: 'And then?' }];
    assert.equal(await titleOf({ conversation_id: 'c-1', messages: later }), undefined);
  });

  test('an answer that fails gives none', async () => {
    world.answers({ text: ['Half'], errorAfter: 1 });
    const events = await converse(world, chat('Will this work?'));
    assert.equal(events.at(-1)?.type, 'error');
    assert.ok(!events.some(({ type }) => type === 'title' || type === 'tool_calls'));
    world.answers({ text: ['Hello'] });
  });
});

test('continue at every vendor: the question to go on comes last', { timeout: 60_000 }, async (context) => {
  const world = await openWorld();
  context.after(() => world.close());
  for (const [format, provider, model] of [
    ['anthropic', 'claude', 'claude-sonnet-4-5'],
    ['google', 'gemini', 'gemini-2.5-flash'],
  ] as const) {
    const seat = world.seat(format);
    seat.answers({ text: ['time'] });
    const events = await converse(world, { provider, model, action: 'continue', messages: [QUESTION, PARTIAL] });
    assert.equal(contentOf(events), 'time');
    assert.match(seat.last.prompt, /exactly where it ends/);
    const sent = JSON.stringify(seat.last.body);
    assert.ok(sent.indexOf('Tell me a story') < sent.indexOf('Once upon a'));
    assert.ok(sent.indexOf('Once upon a') < sent.indexOf('exactly where'));
  }
});

test('continue with the embedded model: it goes on with the next word', { timeout: 120_000 }, async (context) => {
  const world = await openKept('embedded: { enabled: true, modelsDir: models }');
  context.after(() => world.close());
  const models = path.join(world.folder, 'models');
  mkdirSync(models, { recursive: true });
  writeFileSync(path.join(models, 'tiny.gguf'), makeTinyGguf({ says: TINY_SENTENCE, contextLength: 4_096 }));
  // The model's tokenizer knows no words, but bytes: the two of this letter are what comes before the blank.
  const said = TINY_ANSWER.slice(0, TINY_ANSWER.indexOf('é') + 1);
  const ask = { provider: 'embedded', model: 'tiny' };
  const whole = await converse(world, { ...ask, messages: [QUESTION] });
  assert.equal(contentOf(whole), TINY_ANSWER);
  const events = await converse(world, {
    ...ask,
    action: 'continue',
    messages: [QUESTION, { role: 'assistant', content: said }],
  });
  assert.equal(said + contentOf(events), TINY_ANSWER);
});
