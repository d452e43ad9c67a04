import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { postJson } from './kept-world.ts';
import { openWorld, type World } from './responses-world.ts';

type Json = Record<string, unknown>;

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const properties = { city: { type: 'string' }, unit: { type: 'string' } };
/** What OpenAI's strict mode refuses, as a property may be left out. */
const OPEN = { type: 'object', properties, required: ['city'], additionalProperties: false };
const CLOSED = { ...OPEN, required: ['city', 'unit'] };

/** What a body says of being strict: of its tools, and of the form of the answer. */
function strictnessOf(body: unknown): unknown[] {
  const { tools, response_format, text } = body as {
    tools: { strict?: boolean; function?: { strict?: boolean } }[];
    response_format?: { json_schema: { strict?: boolean } };
    text?: { format?: { strict?: boolean } };
  };
  const ofTools = tools.map((tool) => (tool.function ?? tool).strict);
  return [...ofTools, (response_format?.json_schema ?? text?.format)?.strict];
}

describe('what is strict of a request of another format', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const upstream of ['openai', 'openai-responses'] as const) {
    const asked = async (path: string, body: Json) => {
      const seat = world.seat(upstream);
      seat.answers({ text: ['{}'] });
      const answer = await postJson(`${world.gateway.origin}${path}`, body);
      assert.equal(answer.status, 200, await answer.text());
      return { strict: strictnessOf(seat.last.body), lost: answer.headers.get('x-sluice-dropped') };
    };

    test(`is what strict mode takes: Anthropic’s format, before ${upstream}`, async () => {
      const { model } = world.seat(upstream);
      const tools = [
        { name: 'open', strict: true, input_schema: OPEN },
        { name: 'closed', strict: true, input_schema: CLOSED },
      ];
      const body = { model, max_tokens: 9, messages: MESSAGES, tools };
      const format = (schema: Json) => ({ output_config: { format: { type: 'json_schema', schema } } });
      const open = await asked('/v1/messages', { ...body, ...format(OPEN) });
      assert.deepEqual(open, { strict: [false, true, false], lost: 'tools.strict' });
      const closed = await asked('/v1/messages', { ...body, tools: tools.slice(1), ...format(CLOSED) });
      assert.deepEqual(closed, { strict: [true, true], lost: null });
    });

    test(`is what strict mode takes: Gemini’s format, before ${upstream}`, async () => {
      const path = `/v1beta/models/${encodeURIComponent(world.seat(upstream).model)}:generateContent`;
      const toolConfig = { functionCallingConfig: { mode: 'VALIDATED' } };
      const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
      const tools = (schema: Json) => [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: schema }] }];
      const open = await asked(path, { contents, toolConfig, tools: tools(OPEN) });
      assert.deepEqual(open, { strict: [false, undefined], lost: 'toolConfig.functionCallingConfig.mode' });
      const closed = await asked(path, { contents, toolConfig, tools: tools(CLOSED) });
      assert.deepEqual(closed, { strict: [true, undefined], lost: null });
    });

    test(`is nothing: Ollama’s format has no word for it, before ${upstream}`, async () => {
      const { model } = world.seat(upstream);
      const tools = [{ type: 'function', function: { name: 'weather', parameters: OPEN } }];
      const open = await asked('/api/chat', { model, messages: MESSAGES, stream: false, tools, format: OPEN });
      assert.ok(!open.strict.includes(true), JSON.stringify(open));
      assert.equal(open.lost, null);
    });
  }

  test('is what the client says, where it writes OpenAI’s own format', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Hi'] });
    const tools = [{ type: 'function', function: { name: 'weather', strict: true, parameters: OPEN } }];
    for (const more of [{}, { download_media: true }]) {
      const body = { model: seat.model, messages: MESSAGES, tools, ...more };
      const answer = await postJson(`${world.gateway.origin}/v1/chat/completions`, body);
      assert.equal(answer.status, 200, await answer.text());
      assert.deepEqual(strictnessOf(seat.last.body), [true, undefined]);
    }
  });
});
