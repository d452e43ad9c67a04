import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertError, openWorld } from './edge-world.ts';
import { assertHolds, openWorld as openVendors, type World } from './sdk-vendors.ts';

// Of a chat beyond 32 KB only the beginnings of its texts are looked at, as long as it can be passed on as it is.

type Json = Record<string, unknown>;

const CHAT = '/v1/chat/completions';
const JSON_TYPE = { 'content-type': 'application/json' };
/** As models get it: code with quotes and line ends, letters of two and four bytes. */
const LONG = 'if (a < "b") {\n\treturn \'ü 😀 \\\\ \u2028\';\n}\n'.repeat(3_000);
const spoken = (content: unknown): Json[] => [{ role: 'user', content }];

describe('a long chat, passed on', { timeout: 60_000 }, () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());
  const post = (body: string | Buffer) => world.ask({ method: 'POST', path: CHAT, headers: JSON_TYPE, body });
  const written = JSON.stringify(LONG);

  test('arrives byte for byte', async () => {
    const body = `{ "messages": [ {"content":${written} , "role":"user"}, {"role":"user","content":""}],\n"seed":12345678901234567890, "model":"test-model"}`;
    const answer = await post(body);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(world.last.rawBody.toString(), body);
  });

  test('arrives as it is around what is replaced and removed, wherever that stands', async () => {
    for (const order of [
      ['provider', 'messages', 'model', 'stream'],
      ['stream', 'model', 'messages', 'provider'],
      ['messages', 'provider', 'stream', 'model'],
    ]) {
      const members: Readonly<Record<string, string>> = {
        messages: `[{"role":"system","content":${written}}, {"content":[{"text":${written},"type":"text"}], "role":"user"}]`,
        model: '"mock/test-model"',
        provider: '"mock"',
        stream: 'true',
      };
      const body = `{${order.map((name) => `"${name}" : ${members[name]}`).join(', ')}}`;
      const answer = await post(body);
      assert.equal(answer.status, 200, answer.text);
      const { rawBody, fields } = world.last;
      assert.ok(rawBody.includes(members['messages'] as string), 'the messages are as they were');
      const { provider: _, ...left } = JSON.parse(body);
      assert.deepEqual(fields, { ...left, model: 'test-model', stream_options: { include_usage: true } });
    }
  });

  test('is refused for what is no JSON behind the beginnings of its texts, in the same words', async () => {
    const broken = (end: string | Buffer, text: string): Buffer =>
      Buffer.concat([
        Buffer.from(`{"model":"test-model","messages":[{"role":"user","content":"${text}`),
        Buffer.from(end as string),
        Buffer.from('"}]}'),
      ]);
    const { length } = world.upstream.chats;
    for (const end of [
      '\n',
      '\0',
      '\\x',
      '\\u12g4',
      '\\',
      '" "',
      Buffer.from([0xff]),
      Buffer.from([0xed, 0xa0, 0x80]),
    ]) {
      const long = await post(broken(end, 'x'.repeat(50_000)));
      const short = await post(broken(end, 'x'));
      assertError(long, 400);
      const words = (answer: typeof long) => answer.text.replace(/at byte \d+/, 'at byte N');
      assert.equal(words(long), words(short));
    }
    assert.equal(world.upstream.chats.length, length);
  });

  test('is refused for a wrong field beside or behind a long text', async () => {
    const fields = { model: 'test-model', messages: spoken(LONG) };
    for (const [wrong, param] of [
      [{ user: LONG }, 'user'],
      [{ temperature: 'hot' }, 'temperature'],
      [{ messages: [...spoken(LONG), { role: 'nobody', content: LONG }] }, 'messages[1].role'],
      [{ messages: [...spoken(LONG), { role: 'user', content: [{ type: 'text', text: 1 }] }] }, undefined],
    ] as const) {
      const answer = await post(JSON.stringify({ ...fields, ...wrong }));
      const error = assertError(answer, 422);
      if (param !== undefined) assert.equal(error.param, param);
    }
    const twice = JSON.stringify(fields).replace('{', '{"model":"other",');
    assert.match(assertError(await post(twice), 400).message, /'model' twice/);
  });

  test('may be split anywhere', async () => {
    const body = Buffer.from(JSON.stringify({ model: 'test-model', provider: 'mock', messages: spoken(LONG) }));
    for (const size of [1_000, 4_097, 65_537]) {
      async function* pieces() {
        for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
      }
      const answer = await fetch(`${world.gateway.origin}${CHAT}`, {
        method: 'POST',
        headers: JSON_TYPE,
        body: ReadableStream.from(pieces()),
        duplex: 'half',
      } as RequestInit);
      assert.equal(answer.status, 200);
      assert.deepEqual(world.last.fields['messages'], spoken(LONG));
    }
  });
});

describe('a long chat, translated', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openVendors();
  });
  after(() => world.close());
  const post = async (fields: Json): Promise<Json> => {
    const answer = await fetch(`${world.origin}${CHAT}`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify(fields),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return JSON.parse(text);
  };

  test('is there as a whole for other formats, at once and in the place of a provider that fails', async () => {
    for (const format of ['anthropic', 'google'] as const) {
      const seat = world.seat(format);
      seat.answers({ text: ['Hello'] });
      await post({ model: seat.model, messages: spoken(LONG) });
      assert.ok(JSON.stringify(seat.last.body).includes(JSON.stringify(LONG).slice(1, -1)), format);
    }
    const first = world.seat('openai');
    first.answers({ status: 500 });
    const second = world.seat('anthropic');
    await post({ model: first.model, models: [second.model], messages: spoken(LONG) });
    assertHolds(first.last.body, { messages: spoken(LONG) });
    assertHolds(second.last.body, { messages: [{ role: 'user', content: [{ type: 'text', text: LONG }] }] });
  });

  test('keeps long pictures, arguments and results of tools', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Hello'] });
    const url = `data:image/png;base64,${'QUJD'.repeat(20_000)}`;
    const messages = [
      ...spoken([{ type: 'image_url', image_url: { url } }]),
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: LONG } }] },
      { role: 'tool', tool_call_id: 'c', content: LONG },
    ];
    await post({ model: seat.model, messages });
    assertHolds(seat.last.body, { messages });
  });

  test('is asked for several answers as a whole', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: ['Hello'] });
    const { choices } = await post({ model: seat.model, messages: spoken(LONG), n: 2 });
    assert.equal((choices as Json[]).length, 2);
    for (const { body } of seat.arrived.slice(-2)) {
      assertHolds(body, { messages: [{ role: 'user', content: [{ type: 'text', text: LONG }] }] });
    }
  });

  test('counts in an estimate with all of its text, and without its pictures', async () => {
    const seat = world.seat('openai');
    seat.answers({
      raw: JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' } }] }),
    });
    const prompt = async (content: unknown): Promise<number> => {
      const { usage } = await post({ model: seat.model, messages: spoken(content) });
      return (usage as { prompt_tokens: number }).prompt_tokens;
    };
    const plain = 'x'.repeat(100_000);
    const tokens = await prompt(plain);
    assert.ok(Math.abs(tokens - 25_000) < 20, `${tokens} tokens`);
    const url = `data:image/png;base64,${'QUJD'.repeat(20_000)}`;
    const seen = await prompt([
      { type: 'text', text: plain },
      { type: 'image_url', image_url: { url } },
    ]);
    assert.ok(Math.abs(seen - 25_000) < 20, `${seen} tokens`);
  });
});
