import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { converse, type Event, type KeptWorld, openKept, upload } from './kept-world.ts';

const PROVIDER_KEY = 'sk-operator-0123456789';
const CLIENT_KEY = 'sk-client-9876543210';
const DATA = Buffer.alloc(30_000, 7).toString('base64');

/** The payload of the one event of a type. */
function only(events: readonly Event[], type: string): Record<string, unknown> {
  const found = events.filter((event) => event.type === type);
  assert.equal(found.length, 1, `${type}: ${found.length}`);
  return found[0]?.[type] as Record<string, unknown>;
}

describe('the debug panel of the front end over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept('', `, apiKey: '${PROVIDER_KEY}', headers: { x-inner: inner-header-value }`);
  });
  after(() => world.close());

  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  const ask = (fields: object) => converse(world, { debug_mode: true, model: 'test-model', ...fields });

  test('request: what the provider got, behind the introduction', async () => {
    const events = await ask({ temperature: 0.5, max_tokens: 9, tools, tool_choice: 'auto', aspect_ratio: '16:9' });
    const request = only(events, 'request');
    assert.equal(request['provider'], 'acme');
    assert.equal(request['model'], 'test-model');
    assert.deepEqual(request['messages'], [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]);
    assert.deepEqual(request['sampling'], { temperature: 0.5, maxTokens: 9 });
    assert.deepEqual(request['tools'], [{ name: 'look', parameters: { type: 'object' } }]);
    assert.equal(request['tool_choice'], 'auto');
    const order = events.map(({ type }) => type);
    assert.deepEqual(order.slice(0, 4), ['provider', 'parameters', 'headers', 'request']);
    assert.deepEqual(order.slice(-3), ['usage', 'response', 'finish']);
  });

  test('request: as every step left it', async () => {
    const id = `debug-${process.pid}`;
    await upload(world, id, ['notes.txt', 'The quay is red.']);
    const messages = [
      {
        role: 'user',
        content: [
          { bucket_id: id, url: `/files/${id}` },
          { type: 'text', text: 'So?' },
        ],
      },
    ];
    const request = only(await ask({ messages }), 'request');
    assert.match(JSON.stringify(request['messages']), /The quay is red\./);
    const going = await ask({
      action: 'continue',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Once' },
      ],
    });
    const shown = only(going, 'request')['messages'] as { role: string }[];
    assert.deepEqual(
      shown.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
  });

  test('request: media are shortened, wherever they stand', async () => {
    const url = `data:image/png;base64,${DATA}`;
    const content = [
      { type: 'image_url', image_url: { url } },
      { type: 'image_url', image_url: { url: url.replace('data:', 'DATA:') } },
      { type: 'text', text: `Look: ![it](${url}) and ${'long '.repeat(9_000)}` },
    ];
    const events = await ask({ messages: [{ role: 'user', content }] });
    const text = JSON.stringify(only(events, 'request'));
    assert.ok(text.length < 25_000, String(text.length));
    assert.match(text, new RegExp(`data:image/png;base64,${DATA.slice(0, 24)}… \\(${DATA.length} characters\\)`));
    assert.ok(!text.includes(DATA.slice(0, 64)));
  });

  test('response: how it ended', async () => {
    world.answers({ text: ['Hello'], finish: 'length', usage: { prompt: 3, completion: 5, cached: 1 } });
    const events = await ask({});
    const { usage, ...response } = only(events, 'response');
    assert.deepEqual(response, {
      status: 200,
      provider: 'acme',
      model: 'test-model',
      finish: 'length',
      headers: { 'x-ratelimit-remaining-requests': '4999' },
    });
    assert.deepEqual(usage, only(events, 'usage'));
  });

  test('no secret, whoever says it', async () => {
    world.answers({
      text: ['Hello'],
      headers: {
        'x-ratelimit-limit-requests': '5000',
        'x-ratelimit-note': `for ${PROVIDER_KEY} and ${CLIENT_KEY}`,
        'x-internal-host': 'internal-host-value',
        'set-cookie': 'session=cookie-value',
      },
    });
    const secrets = [PROVIDER_KEY, CLIENT_KEY, 'inner-header-value', 'internal-host-value', 'cookie-value'];
    const messages = [{ role: 'user', content: `My key is ${PROVIDER_KEY}, or "${CLIENT_KEY}"` }];
    const fields = { messages, api_key: CLIENT_KEY, extra_secret: CLIENT_KEY };
    const events = await converse(world, { debug_mode: true, ...fields }, { cookie: 'session=cookie-value' });
    const text = JSON.stringify(events);
    for (const secret of secrets) assert.ok(!text.includes(secret), secret);
    assert.match(text, /My key is \*\*\*, or/);
    assert.equal(only(events, 'headers')['x-ratelimit-limit-requests'], '5000');
    assert.deepEqual(Object.keys(only(events, 'headers')).sort(), [
      'x-ratelimit-limit-requests',
      'x-ratelimit-remaining-requests',
    ]);
  });

  test('without debug_mode there is neither; what paces a client is there always', async () => {
    world.answers({ text: ['Hello'] });
    for (const debug_mode of [false, null, undefined]) {
      const events = await converse(world, { debug_mode });
      const types = new Set(events.map(({ type }) => type));
      assert.ok(!types.has('request') && !types.has('response'));
      assert.deepEqual(only(events, 'headers'), { 'x-ratelimit-remaining-requests': '4999' });
    }
  });

  test('an answer that fails has a request, and its error is the last word', async () => {
    world.answers({ text: ['Half'], errorAfter: 1 });
    const events = await ask({});
    only(events, 'request');
    assert.ok(!events.some(({ type }) => type === 'response'));
    assert.equal(events.at(-1)?.type, 'error');
  });
});
