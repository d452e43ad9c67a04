import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import {
  all,
  assertHolds,
  type ByFormat,
  type ChatBody,
  FORMATS,
  openWorld,
  reasoningOf,
  type Seat,
  type World,
} from './sdk-vendors.ts';

const HI = [{ role: 'user' as const, content: 'Hi' }];
/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4 and so on').toString('base64');

describe('the official OpenAI client', { timeout: 60_000 }, () => {
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
      const create = (body: Partial<ChatBody> = {}) =>
        world.client.chat.completions.create({ model: seat.model, messages: HI, ...body, stream: false });
      const stream = (body: Partial<ChatBody> = {}) =>
        world.client.chat.completions.create({ model: seat.model, messages: HI, ...body, stream: true });

      /** Checks a part of what the upstream got, in its own words. */
      const got = (expected: ByFormat<object>): void => assertHolds(seat.last.body, expected[format]);

      test('gets a whole answer', async () => {
        seat.answers({ text: ['Grüße, ', '世界', '!'], usage: { prompt: 21, completion: 9, cached: 5 } });
        const { data: answer, response } = await world.client.chat.completions
          .create({ model: seat.model, messages: HI })
          .withResponse();
        const [provider, model] = seat.model.split('/');
        assert.equal(answer.object, 'chat.completion');
        assert.match(answer.id, /^chatcmpl-/);
        assert.ok(Number.isInteger(answer.created));
        assert.equal(answer.model, model);
        assert.equal((answer as { provider?: string }).provider, provider);
        assert.equal(answer.choices.length, 1);
        const [choice] = answer.choices;
        assert.equal(choice?.index, 0);
        assert.equal(choice?.finish_reason, 'stop');
        assert.equal(choice?.logprobs, null);
        assert.equal(choice?.message.role, 'assistant');
        assert.equal(choice?.message.content, 'Grüße, 世界!');
        for (const absent of ['tool_calls', 'audio', 'reasoning']) {
          assert.ok(choice !== undefined && !(absent in choice.message), `${absent} is there`);
        }
        assertHolds(answer.usage, {
          prompt_tokens: 21,
          completion_tokens: 9,
          total_tokens: 30,
          prompt_tokens_details: { cached_tokens: 5 },
        });
        assert.equal(response.headers.get('x-sluice-provider'), provider);
        assert.equal(response.headers.get('x-sluice-model'), model);
        assert.equal(response.headers.get('x-sluice-attempts'), '1');
      });

      test('gets a stream', async () => {
        seat.answers({ text: ['Grü', 'ße, ', '世界', '!'] });
        const chunks = await all(await stream());
        assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
        const [provider, model] = seat.model.split('/');
        for (const chunk of chunks) {
          assert.equal(chunk.object, 'chat.completion.chunk');
          assert.equal(chunk.model, model);
          assert.equal((chunk as { provider?: string }).provider, provider);
          assert.equal(chunk.choices.length, 1);
        }
        assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
        assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), 'Grüße, 世界!');
        const reasons = chunks.map((chunk) => chunk.choices[0]?.finish_reason ?? null);
        assert.deepEqual(
          reasons.slice(0, -1).filter((reason) => reason !== null),
          [],
        );
        assert.equal(reasons.at(-1), 'stop');
        // Usage comes with the last chunk although nobody asked for it.
        assertHolds(chunks.at(-1)?.usage, {
          prompt_tokens: 11,
          completion_tokens: 7,
          total_tokens: 18,
        });
      });

      test('gets usage in a chunk of its own when it asks for it', async () => {
        seat.answers({ text: ['Hello'], usage: { prompt: 21, completion: 9, cached: 5 } });
        const chunks = await all(await stream({ stream_options: { include_usage: true } }));
        const last = chunks.at(-1);
        assert.deepEqual(last?.choices, []);
        assertHolds(last?.usage, {
          prompt_tokens: 21,
          completion_tokens: 9,
          total_tokens: 30,
          prompt_tokens_details: { cached_tokens: 5 },
        });
        assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'stop');
        for (const chunk of chunks.slice(0, -1)) assert.equal(chunk.usage ?? null, null);
      });

      test('gets the final completion of its own stream helper', async () => {
        seat.answers({ text: ['Hello', ' world'] });
        const helper = world.client.chat.completions.stream({
          model: seat.model,
          messages: HI,
          stream_options: { include_usage: true },
        });
        const heard: string[] = [];
        helper.on('content', (delta) => heard.push(delta));
        assert.equal(await helper.finalContent(), 'Hello world');
        assert.equal(heard.join(''), 'Hello world');
        const final = await helper.finalChatCompletion();
        assert.equal(final.choices[0]?.finish_reason, 'stop');
        assert.equal(final.choices[0]?.message.role, 'assistant');
        assertHolds(final.usage, { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
        assertHolds(await helper.totalUsage(), { total_tokens: 18 });
      });

      test('gets an answer of many small pieces exactly', async () => {
        const pieces = Array.from({ length: 2_000 }, (_, index) => `${index} `);
        seat.answers({ text: pieces, burst: 7 });
        let content = '';
        for await (const chunk of await stream()) content += chunk.choices[0]?.delta.content ?? '';
        assert.equal(content, pieces.join(''));
      });

      test('sends instructions, turns and names', async () => {
        seat.answers({ text: ['Blue.'] });
        const answer = await create({
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'developer', content: 'Answer in English.' },
            { role: 'user', content: 'Pick a colour.' },
            { role: 'assistant', content: 'Red.' },
            {
              role: 'user',
              content: [
                { type: 'text', text: 'Another' },
                { type: 'text', text: 'one.' },
              ],
            },
          ],
        });
        assert.equal(answer.choices[0]?.message.content, 'Blue.');
        got({
          openai: {
            model: 'test-model',
            messages: [
              { role: 'system', content: 'Be brief.' },
              { role: 'system', content: 'Answer in English.' },
              { role: 'user', content: 'Pick a colour.' },
              { role: 'assistant', content: 'Red.' },
              {
                role: 'user',
                content: [
                  { type: 'text', text: 'Another' },
                  { type: 'text', text: 'one.' },
                ],
              },
            ],
          },
          anthropic: {
            model: 'claude-sonnet-4-5',
            system: [{ type: 'text', text: 'Be brief.\n\nAnswer in English.' }],
            messages: [
              { role: 'user', content: [{ type: 'text', text: 'Pick a colour.' }] },
              { role: 'assistant', content: [{ type: 'text', text: 'Red.' }] },
              {
                role: 'user',
                content: [
                  { type: 'text', text: 'Another' },
                  { type: 'text', text: 'one.' },
                ],
              },
            ],
          },
          google: {
            systemInstruction: { parts: [{ text: 'Be brief.\n\nAnswer in English.' }] },
            contents: [
              { role: 'user', parts: [{ text: 'Pick a colour.' }] },
              { role: 'model', parts: [{ text: 'Red.' }] },
              { role: 'user', parts: [{ text: 'Another' }, { text: 'one.' }] },
            ],
          },
        });
      });

      test('sends back what the model refused', async () => {
        const refusals = [
          { role: 'assistant' as const, content: null, refusal: 'Not this.' },
          { role: 'assistant' as const, content: [{ type: 'refusal' as const, refusal: 'Nor that.' }] },
        ];
        for (const refused of refusals) {
          await create({ messages: [...HI, refused, { role: 'user', content: 'Why?' }] });
          assert.match(JSON.stringify(seat.last.body), /Hi.*(?:Not this|Nor that)\..*Why\?/);
        }
      });

      test('sets how the model chooses its words', async () => {
        seat.answers({ text: ['One, two'], finish: 'length' });
        const answer = await create({ max_tokens: 12, stop: ['three', 'four'], seed: 7, temperature: 0.25 });
        assert.equal(answer.choices[0]?.finish_reason, 'length');
        got({
          openai: { max_tokens: 12, stop: ['three', 'four'], seed: 7, temperature: 0.25 },
          anthropic: { max_tokens: 12, stop_sequences: ['three', 'four'], temperature: 0.25 },
          google: {
            generationConfig: { maxOutputTokens: 12, stopSequences: ['three', 'four'], seed: 7, temperature: 0.25 },
          },
        });
        await create({ max_completion_tokens: 13, stop: 'three', top_p: 0.5 });
        got({
          openai: { max_completion_tokens: 13, stop: 'three', top_p: 0.5 },
          anthropic: { max_tokens: 13, stop_sequences: ['three'], top_p: 0.5 },
          google: { generationConfig: { maxOutputTokens: 13, stopSequences: ['three'], topP: 0.5 } },
        });
        const beside: object = { extra_body: { top_k: 4, temperature: 0.75 } };
        await create({ temperature: 0.25, ...beside });
        got({
          openai: { top_k: 4, temperature: 0.75 },
          anthropic: { top_k: 4, temperature: 0.75 },
          google: { generationConfig: { topK: 4, temperature: 0.75 } },
        });
        const chunks = await all(await stream({ max_tokens: 12 }));
        assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'length');
      });

      test('hears that an answer was filtered', async () => {
        seat.answers({ text: ['I'], finish: 'content_filter' });
        assert.equal((await create()).choices[0]?.finish_reason, 'content_filter');
      });

      test('gets an empty answer', async () => {
        seat.answers({ text: [] });
        const answer = await create();
        assert.equal(answer.choices[0]?.message.content, '');
        assert.equal(answer.choices[0]?.finish_reason, 'stop');
        const chunks = await all(await stream());
        assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), '');
        assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'stop');
      });

      test('shows images', async () => {
        seat.answers({ text: ['A pixel.'] });
        const url = `data:image/png;base64,${PNG}`;
        const answer = await create({
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'What is this?' },
                { type: 'image_url', image_url: { url, detail: 'low' } },
              ],
            },
          ],
        });
        assert.equal(answer.choices[0]?.message.content, 'A pixel.');
        assert.equal(seat.last.images, 1);
        got({
          openai: {
            messages: [
              {
                role: 'user',
                content: [
                  { type: 'text', text: 'What is this?' },
                  { type: 'image_url', image_url: { url, detail: 'low' } },
                ],
              },
            ],
          },
          anthropic: {
            messages: [
              {
                role: 'user',
                content: [
                  { type: 'text', text: 'What is this?' },
                  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
                ],
              },
            ],
          },
          google: {
            contents: [
              {
                role: 'user',
                parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: PNG } }],
              },
            ],
          },
        });
      });

      test('shows documents', async () => {
        seat.answers({ text: ['A form.'] });
        const file_data = `data:application/pdf;base64,${PDF}`;
        await create({
          messages: [{ role: 'user', content: [{ type: 'file', file: { filename: 'form.pdf', file_data } }] }],
        });
        got({
          openai: {
            messages: [{ role: 'user', content: [{ type: 'file', file: { filename: 'form.pdf', file_data } }] }],
          },
          anthropic: {
            messages: [
              {
                role: 'user',
                content: [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }],
              },
            ],
          },
          google: {
            contents: [
              {
                role: 'user',
                parts: [{ text: 'form.pdf:' }, { inlineData: { mimeType: 'application/pdf', data: PDF } }],
              },
            ],
          },
        });
      });

      test('names images that lie elsewhere', async () => {
        seat.answers({ text: ['A cat.'] });
        const url = 'https://pictures.example/cat.png';
        await create({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] });
        got({
          openai: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
          anthropic: { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }] },
          google: { contents: [{ role: 'user', parts: [{ fileData: { mimeType: 'image/png', fileUri: url } }] }] },
        });
      });

      test('asks for JSON of a schema and parses it', async () => {
        seat.answers({ text: ['{"city":"Pa', 'ris","degrees":20}'] });
        const Weather = z.object({ city: z.string(), degrees: z.number() });
        const body = {
          model: seat.model,
          messages: HI,
          response_format: zodResponseFormat(Weather, 'weather'),
        };
        const answer = await world.client.chat.completions.parse(body);
        assert.deepEqual(answer.choices[0]?.message.parsed, { city: 'Paris', degrees: 20 });
        const schema = {
          type: 'object',
          properties: { city: { type: 'string' }, degrees: { type: 'number' } },
          required: ['city', 'degrees'],
          additionalProperties: false,
        };
        got({
          openai: { response_format: { type: 'json_schema', json_schema: { name: 'weather', schema, strict: true } } },
          anthropic: { output_config: { format: { type: 'json_schema', schema } } },
          google: { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } },
        });
        const helper = world.client.chat.completions.stream(body);
        const final = await helper.finalChatCompletion();
        assert.deepEqual(final.choices[0]?.message.parsed, { city: 'Paris', degrees: 20 });
      });

      test('asks for JSON of any form', async () => {
        seat.answers({ text: ['{"a":1}'] });
        const answer = await create({ response_format: { type: 'json_object' } });
        assert.equal(answer.choices[0]?.message.content, '{"a":1}');
        assert.equal(seat.arrived.length, 1);
        if (format === 'openai') assertHolds(seat.last.body, { response_format: { type: 'json_object' } });
        if (format === 'google')
          assertHolds(seat.last.body, { generationConfig: { responseMimeType: 'application/json' } });
      });

      test('asks for JSON of a form that only its upstream knows', async () => {
        seat.answers({ text: ['x'] });
        const ask = async (fields: object) => {
          const answer = await fetch(`${world.origin}/v1/chat/completions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ model: seat.model, messages: HI, ...fields }),
          });
          return { status: answer.status, dropped: answer.headers.get('x-sluice-dropped'), json: await answer.json() };
        };
        const isRelayed = format === 'openai';
        const other = await ask({ response_format: { type: 'zzz' } });
        assert.equal(other.status, 200);
        assert.equal(other.dropped, isRelayed ? null : 'response_format');
        const bare = await ask({ response_format: { type: 'json_schema' } });
        assert.equal(bare.status, isRelayed ? 200 : 422);
        if (isRelayed) assertHolds(seat.last.body, { response_format: { type: 'json_schema' } });
        else assert.equal((bare.json as { error: { param: string } }).error.param, 'response_format.json_schema');
        const effort = await ask({ reasoning_effort: 'zzz' });
        assert.equal(effort.dropped, isRelayed ? null : 'reasoning_effort');
      });

      test('asks for the most thoughts in either spelling', async () => {
        seat.answers({ text: ['42'] });
        for (const fields of [{ reasoning_effort: 'x-high' }, { extra_body: { reasoning_effort: 'x-high' } }]) {
          await create(fields as object);
          if (format === 'openai') assertHolds(seat.last.body, { reasoning_effort: 'xhigh' });
          assert.doesNotMatch(JSON.stringify(seat.last.body), /x-high/);
        }
      });

      test('asks for thoughts and gets them', async () => {
        seat.answers({
          reasoning: ['Let me ', 'think. '],
          text: ['42'],
          usage: { prompt: 11, completion: 7, reasoning: 4 },
        });
        const answer = await create({ reasoning_effort: 'low' });
        const message = answer.choices[0]?.message;
        assert.equal(message?.content, '42');
        assert.equal(reasoningOf(message ?? {}), 'Let me think. ');
        assert.equal(answer.usage?.completion_tokens_details?.reasoning_tokens, 4);
        got({
          openai: { reasoning_effort: 'low' },
          anthropic: { thinking: { type: 'enabled' } },
          google: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
        });
        const chunks = await all(await stream({ reasoning_effort: 'high' }));
        const deltas = chunks.map((chunk) => chunk.choices[0]?.delta ?? {});
        assert.equal(deltas.map((delta) => reasoningOf(delta) ?? '').join(''), 'Let me think. ');
        assert.equal(deltas.map((delta) => delta.content ?? '').join(''), '42');
        const firstText = deltas.findIndex((delta) => (delta.content ?? '') !== '');
        const lastThought = deltas.findLastIndex((delta) => reasoningOf(delta) !== undefined);
        assert.ok(lastThought < firstText, 'thoughts come first');
      });
    });
  }

  test('asks an older Claude for JSON, which it only knows as a tool', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ toolCalls: [{ id: 'call_j', name: 'json', arguments: ['{"city":', '"Paris"}'] }] });
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const answer = await world.client.chat.completions.create({
      model: 'claude/claude-3-haiku-20240307',
      messages: HI,
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
    });
    assert.equal(answer.choices[0]?.message.content, '{"city":"Paris"}');
    assert.equal(answer.choices[0]?.message.tool_calls, undefined);
    assert.equal(answer.choices[0]?.finish_reason, 'stop');
  });

  test('lets Gemini listen', async () => {
    const seat = world.seat('google');
    seat.answers({ text: ['A bell.'] });
    await world.client.chat.completions.create({
      model: seat.model,
      messages: [
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'mp3' } }] },
      ],
    });
    assertHolds(seat.last.body, {
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'audio/mpeg', data: 'UklGRg==' } }] }],
    });
  });
});
