import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { all, assertHolds, type ChatBody, FORMATS, openWorld, type Seat, type World } from './sdk-vendors.ts';

const HI = [{ role: 'user' as const, content: 'Hi' }];

/** What only OpenAI's own format can say, and what becomes of it elsewhere. */
describe('the official OpenAI client and the rest of its format', { timeout: 60_000 }, () => {
  let world: World;
  let seat: Seat;
  before(async () => {
    world = await openWorld();
    seat = world.seat('openai');
  });
  after(() => world.close());
  const create = (fields: object = {}) =>
    world.client.chat.completions.create({ model: seat.model, messages: HI, ...fields, stream: false } as ChatBody & {
      stream: false;
    });
  const stream = (fields: object = {}) =>
    world.client.chat.completions.create({ model: seat.model, messages: HI, ...fields, stream: true } as ChatBody & {
      stream: true;
    });

  test('passes fields on that nobody here knows, down to their order and spelling', async () => {
    seat.answers({ text: ['Hello'] });
    const unknown = {
      logit_bias: { '50256': -100 },
      metadata: { 'a key': 'ü', nested: 'x' },
      service_tier: 'flex',
      store: false,
      user: 'someone',
      verbosity: 'low',
      x_acme: { deep: [1, { er: null }], number: 12_345_678_901_234, text: '\u2028</script>' },
    };
    await create(unknown);
    assertHolds(seat.last.body, { ...unknown, model: 'test-model', messages: HI });
    await all(await stream(unknown));
    assertHolds(seat.last.body, { ...unknown, stream: true });
  });

  test('is told of no usage that it did not ask for before there is one', async () => {
    seat.answers({ text: ['Hel', 'lo', ' to', ' you'] });
    for (const include_usage of [false, true]) {
      const chunks = await all(await stream(include_usage ? { stream_options: { include_usage } } : {}));
      assertHolds(seat.last.body, { stream_options: { include_usage: true } });
      assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'Hello to you');
      // Strict clients refuse null where they did not ask.
      assert.equal(
        chunks.some(({ usage }) => usage === null),
        include_usage,
      );
      assert.equal(chunks.filter(({ usage }) => (usage ?? null) !== null).length, 1);
    }
  });

  test('keeps unknown members of messages and parts', async () => {
    seat.answers({ text: ['Hello'] });
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }], x_name: 'me' },
    ];
    await create({ messages });
    assertHolds(seat.last.body, { messages });
  });

  test('keeps to itself what is its own business, and where to call', async () => {
    seat.answers({ text: ['Hello'] });
    await create({
      provider: 'acme',
      model: 'test-model',
      api_key: 'a-key-of-the-client',
      download_media: false,
      ignored: ['claude'],
      conversation_id: 'c1',
      base_url: 'http://127.0.0.1:1/v1',
      api_base: 'http://127.0.0.1:1/v1',
      proxy: 'http://127.0.0.1:1',
      headers: { 'x-evil': '1' },
      extra_headers: { 'x-evil': '1' },
    });
    assert.deepEqual(seat.last.body, { model: 'test-model', messages: HI, stream: false });
    assert.equal(seat.last.headers.authorization, 'Bearer a-key-of-the-client');
    assert.equal(seat.last.headers['x-evil'], undefined);
  });

  test('sends no header of the client on', async () => {
    for (const format of FORMATS) {
      const other = world.seat(format);
      other.answers({ text: ['Hello'] });
      await world.client.chat.completions.create(
        { model: other.model, messages: HI },
        {
          headers: {
            'OpenAI-Organization': 'org-of-the-client',
            cookie: 'session=of-the-client',
            'x-forwarded-for': '10.0.0.1',
            'x-anything': 'of-the-client',
            'user-agent': 'of-the-client/1.0',
          },
        },
      );
      const headers = JSON.stringify(other.last.headers);
      assert.doesNotMatch(headers, /of-the-client|10\.0\.0\.1|stainless|secret/, format);
    }
  });

  test('brings no header of the upstream back but its limits', async () => {
    seat.answers({ text: ['Hello'] });
    for (const body of [
      { model: seat.model, messages: HI },
      { model: seat.model, messages: HI, stream: true as const },
    ]) {
      const { response } = await world.client.chat.completions.create(body).withResponse();
      assert.equal(response.headers.get('x-ratelimit-remaining-requests'), '4999');
      for (const name of ['openai-organization', 'set-cookie', 'server'])
        assert.equal(response.headers.get(name), null);
      assert.notEqual(response.headers.get('x-request-id'), 'req_upstream');
      await response.body?.cancel().catch(() => {});
    }
  });

  test('brings the limits of every upstream back, also where the request was written anew', async () => {
    const pace = 'x-ratelimit-remaining-tokens';
    for (const format of FORMATS) {
      const other = world.seat(format);
      other.answers({ text: ['Hello'], headers: { [pace]: '77', 'x-internal': 'host' } });
      for (const streams of [false, true]) {
        const { response } = await world.client.chat.completions
          .create({ model: other.model, messages: HI, stream: streams, download_media: true } as ChatBody)
          .withResponse();
        assert.equal(response.headers.get(pace), '77', format);
        assert.equal(response.headers.get('x-internal'), null);
        await response.body?.cancel().catch(() => {});
      }
    }
  });

  test('brings the limits back of an upstream that answers in the other form', async () => {
    const choice = { index: 0, finish_reason: 'stop' };
    const whole = JSON.stringify({ choices: [{ ...choice, message: { role: 'assistant', content: 'Hello' } }] });
    const events = `data: ${JSON.stringify({ choices: [{ ...choice, delta: { content: 'Hello' } }] })}\n\ndata: [DONE]\n\n`;
    for (const [streams, raw] of [
      [true, whole],
      [false, events],
    ] as const) {
      seat.answers({ raw });
      const { response } = await world.client.chat.completions
        .create({ model: seat.model, messages: HI, stream: streams } as ChatBody)
        .withResponse();
      assert.equal(response.headers.get('x-ratelimit-remaining-requests'), '4999', `stream: ${streams}`);
      await response.body?.cancel().catch(() => {});
    }
  });

  test('passes fields of the answer on that nobody here knows', async () => {
    const answer = {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'test-model-2026',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello',
            refusal: null,
            annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A' } }],
            x_acme: [1],
          },
          finish_reason: 'stop',
          x_choice: 'kept',
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, cost: 0.25 },
      citations: ['https://a.example/'],
    };
    seat.answers({ raw: JSON.stringify(answer) });
    // Clients of all providers find the details of the usage.
    const details = { prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } };
    const expected = { ...answer, usage: { ...answer.usage, ...details }, provider: 'acme' };
    assert.deepEqual({ ...(await create()) }, expected);
  });

  test('brings log probabilities, whole and streamed; other formats have none', async () => {
    const logprobs = {
      content: [{ token: 'Hi', logprob: -0.25, bytes: [72, 105], top_logprobs: [{ token: 'Hi', logprob: -0.25 }] }],
      refusal: null,
    };
    const head = { id: 'chatcmpl-1', created: 1, model: 'test-model' };
    const message = { role: 'assistant', content: 'Hi', refusal: null };
    const choice = { index: 0, logprobs };
    seat.answers({
      raw: JSON.stringify({
        ...head,
        object: 'chat.completion',
        choices: [{ ...choice, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    });
    const answer = await create({ logprobs: true, top_logprobs: 1 });
    assert.deepEqual(answer.choices[0]?.logprobs, logprobs);
    assertHolds(seat.last.body, { logprobs: true, top_logprobs: 1 });

    seat.answers({
      raw: events([
        { ...head, object: 'chat.completion.chunk', choices: [{ ...choice, delta: message, finish_reason: null }] },
        { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      ]),
    });
    const chunks = await all(await stream({ logprobs: true }));
    assert.deepEqual(chunks[0]?.choices[0]?.logprobs, logprobs);

    for (const format of FORMATS.filter((each) => each !== 'openai')) {
      const other = world.seat(format);
      other.answers({ text: ['Hi'] });
      const without = await create({ model: other.model, logprobs: true });
      assert.equal(without.choices[0]?.message.content, 'Hi');
      assert.equal(without.choices[0]?.logprobs, null);
    }
  });

  test('what a vendor keeps reaches it by its id, and is told as dropped where nobody else has it', async () => {
    const messages: ChatBody['messages'] = [
      { role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] },
      { role: 'assistant', audio: { id: 'audio_1' } },
      { role: 'user', content: 'Hi' },
    ];
    seat.answers({ text: ['Hi'] });
    const dropped = async (model: string): Promise<string | null> => {
      const { response } = await world.client.chat.completions.create({ model, messages }).withResponse();
      return response.headers.get('x-sluice-dropped');
    };
    assert.equal(await dropped(seat.model), null);
    assertHolds(seat.last.body, { messages });
    for (const format of FORMATS.filter((each) => each !== 'openai')) {
      const other = world.seat(format);
      other.answers({ text: ['Hi'] });
      assert.equal(await dropped(other.model), 'messages.file_id, messages.audio');
      await assert.rejects(create({ model: other.model, messages, ...{ strict: true } }), { status: 400 });
    }
  });

  test('freeform tools and their calls reach OpenAI as they are; elsewhere both are functions', async () => {
    const body = {
      messages: [
        { role: 'user', content: 'Change it' },
        {
          role: 'assistant',
          content: 'I do',
          tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input: '+' } }],
        },
        { role: 'user', content: 'Again' },
      ],
      tools: [{ type: 'custom', custom: { name: 'patch' } }],
    } satisfies Partial<ChatBody>;
    seat.answers({ text: ['Hi'] });
    await create(body);
    assertHolds(seat.last.body, body);
    const other = world.seat('anthropic');
    other.answers({ text: ['Hi'] });
    const { response } = await world.client.chat.completions.create({ model: other.model, ...body }).withResponse();
    assert.equal(response.headers.get('x-sluice-dropped'), null);
    assert.deepEqual(other.last.tools, ['patch']);
    assert.match(
      JSON.stringify(other.last.body),
      /"type":"tool_use","id":"call_1","name":"patch","input":\{"input":"\+"\}/,
    );
  });

  test('sends audio and brings spoken answers', async () => {
    const data = Buffer.from('RIFF and so on').toString('base64');
    const audio = { id: 'audio_1', data, expires_at: 1_900_000_000, transcript: 'Hello' };
    const head = { id: 'chatcmpl-1', created: 1, model: 'test-model' };
    seat.answers({
      raw: JSON.stringify({
        ...head,
        object: 'chat.completion',
        choices: [
          { index: 0, message: { role: 'assistant', content: null, refusal: null, audio }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    });
    const body = {
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'wav' },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What do you hear?' },
            { type: 'input_audio', input_audio: { data, format: 'mp3' } },
          ],
        },
      ],
    };
    const answer = await create(body);
    assert.deepEqual(answer.choices[0]?.message.audio, audio);
    assertHolds(seat.last.body, body);

    const delta = (fields: object) => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: fields, finish_reason: null }],
    });
    seat.answers({
      raw: events([
        delta({ role: 'assistant', content: null, refusal: null, audio: { id: 'audio_1', transcript: 'Hel' } }),
        delta({ audio: { transcript: 'lo' } }),
        delta({ audio: { data } }),
        delta({ audio: { expires_at: 1_900_000_000 } }),
        { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      ]),
    });
    const chunks = await all(await stream(body));
    const heard = chunks
      .flatMap((chunk) => chunk.choices)
      .map((choice) => (choice.delta as { audio?: Partial<typeof audio> }).audio ?? {});
    assert.equal(heard.map((piece) => piece.transcript ?? '').join(''), 'Hello');
    assert.equal(heard.map((piece) => piece.data ?? '').join(''), data);
    assert.equal(heard.find((piece) => piece.id !== undefined)?.id, 'audio_1');
  });

  test('brings images that a model made amid a chat', async () => {
    const images = [{ mimeType: 'image/png', data: 'iVBORw0KGgo=' }];
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    for (const format of ['openai', 'google'] as const) {
      const artist = world.seat(format);
      artist.answers({ text: ['A picture: '], images });
      const model = format === 'google' ? 'gemini/gemini-2.5-flash-image' : artist.model;
      const chunks = await all(await stream({ model }));
      const deltas = chunks.map((chunk) => chunk.choices[0]?.delta as { images?: { image_url: { url: string } }[] });
      assert.deepEqual(
        deltas.flatMap((delta) => delta?.images ?? []).map((image) => image.image_url.url),
        [url],
      );
      assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), 'A picture: ');
      const message = (await create({ model })).choices[0]?.message as { images?: { image_url: { url: string } }[] };
      assert.deepEqual(
        message.images?.map((image) => image.image_url.url),
        [url],
      );
    }
  });

  test('keeps null out of what clients do not expect it in', async () => {
    const message = { role: 'assistant', content: null, tool_calls: null, audio: null, reasoning: null };
    seat.answers({
      raw: JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'test-model',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      }),
    });
    assert.deepEqual((await create()).choices[0]?.message, { role: 'assistant', content: '' });
  });
});

describe('several choices through the official OpenAI client', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const format of FORMATS) {
    describe(`before an upstream of ${format}'s format`, () => {
      let seat: Seat;
      before(() => {
        seat = world.seat(format);
      });

      /** OpenAI's format has choices; the others are asked twice, and answer differently each time. */
      function play(streamed: boolean): void {
        if (format !== 'openai') {
          let asked = 0;
          seat.answers(() => {
            asked += 1;
            return { text: asked === 1 ? ['He', 'ads'] : ['Ta', 'ils'] };
          });
          return;
        }
        const head = { id: 'chatcmpl-1', created: 1, model: 'test-model' };
        const usage = { prompt_tokens: 11, completion_tokens: 14, total_tokens: 25 };
        const choice = (index: number, fields: object) => ({ index, logprobs: null, finish_reason: null, ...fields });
        const message = (content: string) => ({ role: 'assistant', content, refusal: null });
        if (!streamed) {
          const choices = ['Heads', 'Tails'].map((content, index) =>
            choice(index, { message: message(content), finish_reason: 'stop' }),
          );
          seat.answers({ raw: JSON.stringify({ ...head, object: 'chat.completion', choices, usage }) });
          return;
        }
        const chunk = (index: number, fields: object) => ({
          ...head,
          object: 'chat.completion.chunk',
          choices: [choice(index, fields)],
        });
        seat.answers({
          raw: events([
            chunk(0, { delta: message('He') }),
            chunk(1, { delta: message('Ta') }),
            chunk(0, { delta: { content: 'ads' } }),
            chunk(0, { delta: {}, finish_reason: 'stop' }),
            chunk(1, { delta: { content: 'ils' } }),
            chunk(1, { delta: {}, finish_reason: 'stop' }),
            { ...head, object: 'chat.completion.chunk', choices: [], usage },
          ]),
        });
      }

      test('come whole', async () => {
        play(false);
        const answer = await world.client.chat.completions.create({ model: seat.model, messages: HI, n: 2 });
        assert.deepEqual(
          answer.choices.map((choice) => choice.index),
          [0, 1],
        );
        assert.deepEqual(answer.choices.map((choice) => choice.message.content).sort(), ['Heads', 'Tails']);
        assert.deepEqual(
          answer.choices.map((choice) => choice.finish_reason),
          ['stop', 'stop'],
        );
        assert.equal(answer.usage?.completion_tokens, 14);
        assert.equal(seat.arrived.length, format === 'openai' ? 1 : 2);
      });

      for (const wantsUsage of [false, true]) {
        // Where each choice is an answer of its own, each still brings a usage of its own.
        test(`come as a stream${wantsUsage ? ' with usage' : ''}`, async () => {
          play(true);
          const chunks = await all(
            await world.client.chat.completions.create({
              model: seat.model,
              messages: HI,
              n: 2,
              stream: true,
              ...(wantsUsage ? { stream_options: { include_usage: true } } : {}),
            }),
          );
          const texts = ['', ''];
          const finishes: (string | null)[][] = [[], []];
          for (const choice of chunks.flatMap((chunk) => chunk.choices)) {
            texts[choice.index] += choice.delta.content ?? '';
            if (choice.finish_reason !== null) finishes[choice.index]?.push(choice.finish_reason);
          }
          assert.deepEqual(texts.sort(), ['Heads', 'Tails']);
          assert.deepEqual(finishes, [['stop'], ['stop']]);
          // One usage for all, at the end.
          const counted = chunks.filter((chunk) => (chunk.usage ?? null) !== null);
          assert.equal(counted.length, 1);
          assert.equal(counted[0], chunks.at(-1));
          assert.equal(counted[0]?.usage?.completion_tokens, 14);
          if (wantsUsage) assert.deepEqual(counted[0]?.choices, []);
        });
      }
    });
  }
});

function events(chunks: readonly object[]): string {
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}
