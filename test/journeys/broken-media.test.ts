import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { ask } from '../support/raw-http.ts';

/** A picture that is no base64, in the words of each format, with how the refusal tells its text. */
const FORMATS: readonly {
  readonly path: (model: string) => string;
  readonly body: (model: string, data: string) => Record<string, unknown>;
  readonly message: (error: { message: string } & string) => string;
}[] = [
  {
    path: () => '/v1/responses',
    body: (model, data) => ({
      model,
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${data}` }] }],
    }),
    message: ({ message }) => message,
  },
  {
    path: () => '/v1/messages',
    body: (model, data) => ({
      model,
      max_tokens: 100,
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }] },
      ],
    }),
    message: ({ message }) => message,
  },
  {
    path: (model) => `/v1beta/models/${model}:generateContent`,
    body: (_model, data) => ({
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data } }] }],
    }),
    message: ({ message }) => message,
  },
  {
    path: () => '/api/chat',
    body: (model, data) => ({ model, stream: false, messages: [{ role: 'user', content: 'What?', images: [data] }] }),
    message: (error) => error,
  },
];

test('a picture that is no base64 is refused in every format that is translated, before an upstream gets it', async () => {
  const script = () => ({ text: ['A dot.'] });
  const openai = await startOpenAiUpstream(script);
  const gemini = await startGeminiUpstream(script);
  const gateway = await startGateway(
    `providers:
  mock: { kind: openai, baseUrl: '${openai.baseUrl}' }
  vertex: { kind: google, baseUrl: '${gemini.baseUrl}', apiKey: any }
`,
  );
  try {
    for (const model of ['mock/test-model', 'vertex/gemini-2.5-flash'])
      for (const { path, body, message } of FORMATS) {
        // What Gemini's own clients say goes to Gemini as it is.
        if (path(model).startsWith('/v1beta') && model.startsWith('vertex')) continue;
        const good = await ask(gateway.origin, { path: path(model), body: body(model, 'AAAA') });
        assert.equal(good.status, 200, good.text);
        const { length } = [...openai.requests, ...gemini.requests];
        for (const data of ['!!!', 'https://host.example/a.png']) {
          const answer = await ask(gateway.origin, { path: path(model), body: body(model, data) });
          assert.equal(answer.status, 400, `${path(model)} ${answer.text}`);
          const { error } = answer.json as { error: { message: string } & string };
          assert.match(message(error), /Media must be valid base64, and not empty\.$/);
        }
        assert.equal([...openai.requests, ...gemini.requests].length, length, path(model));
      }
  } finally {
    await gateway.close();
    await openai.close();
    await gemini.close();
  }
});
