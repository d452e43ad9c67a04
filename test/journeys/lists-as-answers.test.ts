import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { GoogleGenAI, Type } from '@google/genai';
import { assertHolds, type ByFormat, FORMATS, openWorld, type World } from './sdk-vendors.ts';

const LIST = { type: 'array', items: { type: 'string' } };

/** The schema of an object around another. */
function around(inner: object): object {
  return { type: 'object', properties: { value: inner }, required: ['value'], additionalProperties: false };
}

/** What an upstream writes that is asked for that object. */
const PIECES: ByFormat<readonly string[]> = {
  openai: ['{"val', 'ue": ["a"', ', "b}"] ', '}'],
  anthropic: ['{"value":', '["a"', ', "b}"]}'],
  google: ['["a"', ', "b}"]'],
};

describe('answers that are lists or plain values', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const post = async (path: string, body: object, headers = {}): Promise<Response> => {
    const answer = await fetch(`${world.origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 200, path);
    return answer;
  };

  for (const format of FORMATS) {
    test(`reach clients of the Gemini API, whole and in pieces (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: PIECES[format] });
      const client = new GoogleGenAI({ apiKey: 'secret', httpOptions: { baseUrl: world.origin } });
      const asked = {
        model: seat.model,
        contents: 'Two letters.',
        config: {
          responseMimeType: 'application/json',
          responseSchema: { type: Type.ARRAY, items: { type: Type.STRING } },
        },
      };
      const whole = await client.models.generateContent(asked);
      assert.deepEqual(JSON.parse(whole.text ?? ''), ['a', 'b}']);
      const texts: string[] = [];
      for await (const { text } of await client.models.generateContentStream(asked)) texts.push(text ?? '');
      assert.deepEqual(JSON.parse(texts.join('')), ['a', 'b}']);
      const expected: ByFormat<object> = {
        openai: { response_format: { type: 'json_schema', json_schema: { schema: around(LIST) } } },
        anthropic: { output_config: { format: { type: 'json_schema', schema: around(LIST) } } },
        google: { generationConfig: asked.config },
      };
      assertHolds(seat.last.body, expected[format]);
    });
  }

  test('reach clients of the APIs of Ollama and Anthropic', async () => {
    const seat = world.seat('openai');
    const messages = [{ role: 'user', content: 'A number.' }];
    const schema = { type: 'integer', minimum: 3 };
    seat.answers({ text: ['{"value": 4', '2}'] });
    const chat = { model: seat.model, messages, stream: false, format: schema };
    assertHolds(await (await post('/api/chat', chat)).json(), { message: { content: '42' } });
    assertHolds(seat.last.body, { response_format: { json_schema: { schema: around(schema) } } });
    const asked = {
      model: seat.model,
      messages,
      max_tokens: 9,
      output_config: { format: { type: 'json_schema', schema } },
    };
    const headers = { 'anthropic-version': '2023-06-01' };
    assertHolds(await (await post('/v1/messages', asked, headers)).json(), { content: [{ type: 'text', text: '42' }] });
    assertHolds(seat.last.body, { response_format: { json_schema: { schema: around(schema) } } });
  });

  test('come behind thoughts in tags, as Perplexity’s models that think write them', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['<thi', 'nk>Perhaps {"value": 1}?</th', 'ink>\n\n{"value": ["a"', ', "b"]}'] });
    const asked = {
      model: seat.model,
      messages: [{ role: 'user', content: 'Two letters.' }],
      stream: false,
      format: LIST,
      think: true,
    };
    assertHolds(await (await post('/api/chat', asked)).json(), {
      message: { content: '["a", "b"]', thinking: 'Perhaps {"value": 1}?' },
    });
  });

  test('keep the definitions of their schema, and references to it', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['{"value": []}'] });
    const asked = (responseJsonSchema: object): Promise<Response> =>
      post(`/v1beta/models/${seat.model}:generateContent`, {
        contents: [{ parts: [{ text: 'A tree.' }] }],
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema },
      });
    const $defs = { leaf: { type: 'string' } };
    await asked({ type: 'array', items: { anyOf: [{ $ref: '#' }, { $ref: '#/$defs/leaf' }] }, $defs });
    assertHolds(seat.last.body, {
      response_format: {
        json_schema: {
          schema: {
            $defs,
            properties: {
              value: { type: 'array', items: { anyOf: [{ $ref: '#/properties/value' }, { $ref: '#/$defs/leaf' }] } },
            },
          },
        },
      },
    });
  });

  test('are what clients of chat completions ask this very format for', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['{"value": []}'] });
    // A member that Sluice alone understands, so that the request is no relay.
    const asked = {
      model: seat.model,
      messages: [{ role: 'user', content: 'Hi' }],
      conversation: { id: 'x' },
      response_format: { type: 'json_schema', json_schema: { name: 'list', schema: LIST } },
    };
    assertHolds(await (await post('/v1/chat/completions', asked)).json(), {
      choices: [{ message: { content: '{"value": []}' } }],
    });
    assertHolds(seat.last.body, { response_format: { json_schema: { schema: LIST } } });
  });
});
