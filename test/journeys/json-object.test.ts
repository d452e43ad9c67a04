import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { postJson } from './kept-world.ts';
import { assertHolds, FORMATS, type Format, openWorld, type World } from './sdk-vendors.ts';

/** Models like to put JSON into a block of code and to say something around it. */
describe('answers that shall be JSON (response_format: json_object)', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const format of FORMATS) {
    test(`${format}: are JSON and nothing else when they come whole, and as they are when streamed or not asked to`, async () => {
      const seat = world.seat(format);
      const json = '{"answer": [1, 2]}';
      const ask = { model: seat.model, messages: [{ role: 'user' as const, content: 'Hi' }] };
      const response_format = { type: 'json_object' as const };
      for (const text of [
        `Here it is:\n\n\`\`\`json\n${json}\n\`\`\`\n`,
        `Here it is: \`\`\`json\n${json}\n\`\`\``,
        `\n ${json} \n`,
      ]) {
        seat.answers({ text: [text] });
        const whole = await world.client.chat.completions.create({ ...ask, response_format });
        assert.equal(whole.choices[0]?.message.content, json);
        const free = await world.client.chat.completions.create(ask);
        assert.equal(free.choices[0]?.message.content, text);
        const stream = await world.client.chat.completions.create({ ...ask, response_format, stream: true });
        let streamed = '';
        for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? '';
        assert.equal(streamed, text);
      }
    });
  }

  for (const name of ['value', 'schema']) {
    test(`have the form that is said as '${name}', as clients and servers write it that know no json_schema`, async () => {
      const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
      const response_format = { type: 'json_object', [name]: schema };
      const asked = async (format: Format): Promise<unknown> => {
        const seat = world.seat(format);
        seat.answers({ text: ['{"city":"Bonn"}'] });
        const messages = [{ role: 'user', content: 'Where?' }];
        const answer = await postJson(`${world.origin}/v1/chat/completions`, {
          model: seat.model,
          messages,
          response_format,
        });
        assert.equal(answer.status, 200, await answer.text());
        assert.equal(answer.headers.get('x-sluice-dropped'), null);
        return seat.last.body;
      };
      assertHolds(await asked('anthropic'), { output_config: { format: { type: 'json_schema', schema } } });
      assertHolds(await asked('google'), { generationConfig: { responseMimeType: 'application/json' } });
      assert.match(JSON.stringify(await asked('google')), /"response(Json)?Schema":\{.*"city"/);
      // Whoever speaks this format knows best what it means.
      assertHolds(await asked('openai'), { response_format });
    });
  }

  test('may be any JSON where the schema beside it says nothing', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: ['{}'] });
    const messages = [{ role: 'user', content: 'Where?' }];
    for (const said of [{ schema: {} }, { value: {} }, { schema: null, value: null }]) {
      const response_format = { type: 'json_object', ...said };
      const asked = { model: seat.model, messages, response_format };
      const answer = await postJson(`${world.origin}/v1/chat/completions`, asked);
      assert.equal(answer.status, 200, await answer.text());
      assert.ok(!JSON.stringify(seat.last.body).includes('json_schema'), JSON.stringify(seat.last.body));
    }
  });
});
