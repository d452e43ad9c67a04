import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { HELLO, type Json, MARK, named, type Params, postTo, TOOL, USER_ID } from './messages-world.ts';
import { assertHolds, FORMATS, openWorld, type World } from './sdk-vendors.ts';

describe('Anthropic’s interface as Claude Code uses it', { timeout: 120_000 }, () => {
  let world: World;
  let client: Anthropic;
  before(async () => {
    world = await openWorld('aliases: { claude-sonnet-4-6: [acme/test-model] }\nlimits: { heartbeatMs: 1000 }');
    client = new Anthropic({ baseURL: world.origin, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => world.close());

  const post = (body: object, headers?: Record<string, string>, path?: string) => postTo(world, body, headers, path);

  const session = (fields: Partial<Params> = {}): Params => ({
    model: 'claude-sonnet-4-6',
    max_tokens: 32_000,
    system: [
      { type: 'text', text: 'You are a coding agent.', cache_control: MARK },
      { type: 'text', text: `Rules:\n${'Be careful. '.repeat(40_000)}`, cache_control: MARK },
    ],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'List the files.', cache_control: MARK }] }],
    tools: [TOOL],
    metadata: { user_id: USER_ID },
    ...fields,
  });

  test('an alias leads to another vendor’s model, through a loop of tools', async () => {
    const seat = world.seat('openai');
    seat.answers((request) =>
      request.prompt === 'a.txt'
        ? { text: ['There is a.txt.'] }
        : { text: ['Looking.'], toolCalls: [{ id: 'call_1', name: 'Bash', arguments: ['{"command":', '"ls"}'] }] },
    );
    const betas = ['claude-code-20250219', 'interleaved-thinking-2025-05-14'];
    const first = client.beta.messages.stream({ ...(session() as Anthropic.Beta.MessageCreateParams), betas });
    const { data, response } = await first.withResponse();
    assert.ok(response.headers.get('request-id'));
    assert.equal(response.headers.get('x-sluice-model'), 'test-model');
    const message = await data.finalMessage();
    assert.equal(message.stop_reason, 'tool_use');
    const messages = [
      ...session().messages,
      { role: 'assistant' as const, content: message.content as Anthropic.ContentBlockParam[] },
      {
        role: 'user' as const,
        content: [{ type: 'tool_result' as const, tool_use_id: 'call_1', content: 'a.txt', cache_control: MARK }],
      },
    ];
    const second = await client.messages.stream(session({ messages })).finalMessage();
    assertHolds(second.content, [{ type: 'text', text: 'There is a.txt.' }]);
  });

  test('tools that its search found are named in the result', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Fetching.'] });
    const found = ['WebFetch', 'CronCreate'].map((name) => ({ type: 'tool_reference', tool_name: name }));
    const answer = await post({
      model: 'claude-sonnet-4-6',
      max_tokens: 9,
      messages: [
        ...HELLO,
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: { query: 'web' } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: found }] },
      ],
      tools: [TOOL, { ...TOOL, name: 'ToolSearch' }],
    });
    assert.equal(answer.status, 200, await answer.text());
    assert.equal(answer.headers.get('x-sluice-dropped'), 'cache_control');
    assertHolds(((seat.last.body as Json)['messages'] as Json[]).at(-1), {
      role: 'tool',
      content: [
        { type: 'text', text: 'The tool WebFetch can be called now.' },
        { type: 'text', text: 'The tool CronCreate can be called now.' },
      ],
    });
  });

  describe('tools that messages add and take away', () => {
    const added = (tool: Json) => ({ type: 'tool_addition', tool });
    const removed = (name: string) => ({ type: 'tool_removal', tool: { type: 'tool_reference', name } });
    const messages = [
      ...HELLO,
      { role: 'system', content: [removed('Bash'), added({ type: 'tool_definition', definition: named('Query') })] },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'And now?' },
      { role: 'system', content: [added({ type: 'tool_reference', name: 'Bash' }), removed('Write')] },
    ];
    const body = { max_tokens: 9, messages, tools: [named('Bash'), named('Write')] };

    for (const format of FORMATS.filter((each) => each !== 'anthropic')) {
      test(`are a list, and words at their places: ${format}`, async () => {
        const seat = world.seat(format);
        seat.answers({ text: ['Hi.'] });
        const answer = await post({ ...body, model: seat.model });
        assert.equal(answer.status, 200, await answer.text());
        assert.equal(answer.headers.get('x-sluice-dropped'), null);
        assert.deepEqual(seat.last.tools, ['Bash', 'Query']);
        const words = JSON.stringify(seat.last.body).match(/The tool \w+ can [a-z ]+\./g);
        assert.deepEqual(words?.sort(), [
          'The tool Bash can be called now.',
          'The tool Bash can no longer be called.',
          'The tool Query can be called now.',
          'The tool Write can no longer be called.',
        ]);
      });
    }

    test('go to Anthropic where they stand', async () => {
      const seat = world.seat('anthropic');
      seat.answers({ text: ['Hi.'] });
      const answer = await post({ ...body, model: seat.model });
      assert.equal(answer.status, 200, await answer.text());
      const sent = seat.last.body as { messages: Json[]; tools: Json[] };
      assert.deepEqual(sent.tools, body.tools);
      assert.deepEqual(
        sent.messages.filter(({ role }) => role === 'system'),
        messages.filter(({ role }) => role === 'system'),
      );
    });
  });

  test('a picture that a tool gave back is seen', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['A cat.'] });
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBORw0KGgo=' };
    const messages: Anthropic.MessageParam[] = [
      ...session().messages,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'a.png' } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'image', source }] }],
      },
    ];
    await client.messages.create({ model: 'claude-sonnet-4-6', max_tokens: 9, messages });
    const [result, picture] = ((seat.last.body as Json)['messages'] as Json[]).slice(-2);
    assert.deepEqual([result?.['role'], typeof result?.['content']], ['tool', 'string']);
    assert.match(JSON.stringify(picture), /"role":"user".*"image_url".*data:image\/png;base64,iVBORw0KGgo=/);
  });

  test('prompts are counted, exactly or about', async () => {
    const { system, messages, tools } = session();
    const counted = await client.messages.countTokens({
      model: 'claude-sonnet-4-6',
      messages,
      ...(system === undefined ? {} : { system }),
      ...(tools === undefined ? {} : { tools }),
    });
    // "Be careful. " has three tokens.
    assert.ok(counted.input_tokens > 100_000 && counted.input_tokens < 140_000, String(counted.input_tokens));
    const short = await client.messages.countTokens({ model: 'claude-sonnet-4-6', messages: HELLO });
    assert.ok(short.input_tokens > 0 && short.input_tokens < 12, String(short.input_tokens));
    const special = await client.messages.countTokens({
      model: 'claude-sonnet-4-6',
      messages: [{ role: 'user', content: '<|endoftext|>' }],
    });
    assert.ok(special.input_tokens > short.input_tokens);
  });

  test('one provider can be asked by its own base URL', async () => {
    const own = new Anthropic({ baseURL: `${world.origin}/api/claude`, apiKey: 'secret', maxRetries: 0 });
    const seat = world.seat('anthropic');
    seat.answers({ text: ['Hi'] });
    const message = await own.messages.create({ model: 'claude-x', max_tokens: 9, messages: HELLO });
    assertHolds(message.content, [{ type: 'text', text: 'Hi' }]);
    assert.equal((seat.last.body as Json)['model'], 'claude-x');
    const plain = await post({ model: 'claude-x', max_tokens: 9, messages: HELLO }, {}, '/api/claude/messages');
    assert.equal(plain.status, 200);
  });

  test('silence is broken by pings', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['One'], stallAfter: 1 });
    const answer = await post({ model: seat.model, max_tokens: 9, messages: HELLO, stream: true });
    let text = '';
    for await (const piece of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(piece).toString();
      // One comes behind the start, as the vendor sends it.
      if (text.split('event: ping\ndata: {"type":"ping"}\n\n').length > 2) break;
    }
    assert.match(text, /One/);
    assert.equal(await seat.last.closed, 'aborted');
  });
});
