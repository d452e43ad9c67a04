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
  /** What it calls the picture, where that is told. */
  readonly field?: string;
  /** Whether it takes a data: URI in the place of base64. */
  readonly takesDataUri?: true;
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
    field: 'messages[0].content[0].source.data',
  },
  {
    path: () => '/v1/messages',
    body: (model, data) => ({
      model,
      max_tokens: 100,
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              content: [
                { type: 'text', text: 'Seen.' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
              ],
            },
          ],
        },
      ],
    }),
    message: ({ message }) => message,
    field: 'messages[2].content[0].content[1].source.data',
  },
  {
    path: (model) => `/v1beta/models/${model}:generateContent`,
    body: (_model, data) => ({
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data } }] }],
    }),
    message: ({ message }) => message,
    field: 'contents[0].parts[0].inlineData.data',
  },
  {
    path: (model) => `/v1beta/models/${model}:generateContent`,
    body: (_model, data) => ({
      contents: [
        { role: 'user', parts: { text: 'Look.' } },
        { role: 'model', parts: [{ functionCall: { name: 'look' } }] },
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                name: 'look',
                response: { output: 'Seen.' },
                parts: [{ inlineData: { mimeType: 'image/png', data } }],
              },
            },
          ],
        },
      ],
    }),
    message: ({ message }) => message,
    field: 'contents[2].parts[0].functionResponse.parts[0].inlineData.data',
  },
  {
    path: () => '/api/chat',
    body: (model, data) => ({
      model,
      stream: false,
      messages: [
        { role: 'system', content: 'Look well.' },
        { role: 'user', content: 'What?', images: ['AAAA', data] },
      ],
    }),
    message: (error) => error,
    field: 'messages[1].images[1]',
    takesDataUri: true,
  },
  {
    path: () => '/api/generate',
    body: (model, data) => ({ model, stream: false, system: 'Look well.', prompt: 'What?', images: [data] }),
    message: (error) => error,
    field: 'images[0]',
    takesDataUri: true,
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
      for (const { path, body, message, field, takesDataUri } of FORMATS) {
        // What Gemini's own clients say goes to Gemini as it is.
        if (path(model).startsWith('/v1beta') && model.startsWith('vertex')) continue;
        const good = await ask(gateway.origin, { path: path(model), body: body(model, 'AAAA') });
        assert.equal(good.status, 200, good.text);
        const { length } = [...openai.requests, ...gemini.requests];
        for (const [data, wanted] of [
          ['!!!', 'valid base64'],
          ['', 'valid base64, and not empty'],
          ['https://host.example/a.png', `base64${takesDataUri ? ' or a data: URI' : ''}, and not an address`],
          ...(takesDataUri || field === undefined
            ? []
            : [['data:image/png;base64,AAAA', 'base64, and not an address'] as const]),
        ] as const) {
          const answer = await ask(gateway.origin, { path: path(model), body: body(model, data) });
          assert.equal(answer.status, 400, `${path(model)} ${answer.text}`);
          const { error } = answer.json as { error: { message: string } & string };
          if (field === undefined) assert.match(message(error), /Media must be valid base64, and not empty\.$/);
          else assert.equal(message(error).replace(/^\w+: /, ''), `'${field}' must be ${wanted}.`);
        }
        assert.equal([...openai.requests, ...gemini.requests].length, length, path(model));
      }
  } finally {
    await gateway.close();
    await openai.close();
    await gemini.close();
  }
});

test('a data: URI is one in capitals too, wherever it may stand for base64', async () => {
  const gemini = await startGeminiUpstream(() => ({ text: ['Heard.'] }));
  const gateway = await startGateway(
    `providers: { vertex: { kind: google, baseUrl: '${gemini.baseUrl}', apiKey: any } }`,
  );
  const model = 'vertex/gemini-2.5-flash';
  const sound = 'DATA:audio/wav;base64,UklGRg==';
  const paper = 'Data:application/pdf;base64,JVBERg==';
  const chat = (content: object, role = 'user') => ({
    path: '/v1/chat/completions',
    body: {
      model,
      messages: [{ role, content: [content] }, ...(role === 'user' ? [] : [{ role: 'user', content: 'Go on.' }])],
    },
  });
  const response = (content: object) => ({
    path: '/v1/responses',
    body: { model, input: [{ role: 'user', content: [content] }] },
  });
  try {
    for (const [asked, inlineData] of [
      [
        chat({ type: 'input_audio', input_audio: { data: sound, format: 'wav' } }),
        { mimeType: 'audio/wav', data: 'UklGRg==' },
      ],
      [chat({ type: 'file', file: { file_data: paper } }), { mimeType: 'application/pdf', data: 'JVBERg==' }],
      [
        chat({ type: 'image_url', image_url: { url: 'DATA:image/png;base64,iVBORw0KGgo=' } }, 'assistant'),
        { mimeType: 'image/png', data: 'iVBORw0KGgo=' },
      ],
      [
        {
          path: '/v1/chat/completions',
          body: { model, messages: [{ role: 'user', content: '' }], image: 'DATA:image/png;base64,iVBORw0KGgo=' },
        },
        { mimeType: 'image/png', data: 'iVBORw0KGgo=' },
      ],
      [
        response({ type: 'input_audio', input_audio: { data: sound, format: 'wav' } }),
        { mimeType: 'audio/wav', data: 'UklGRg==' },
      ],
      [response({ type: 'input_file', file_data: paper }), { mimeType: 'application/pdf', data: 'JVBERg==' }],
    ] as const) {
      const answer = await ask(gateway.origin, asked);
      assert.equal(answer.status, 200, answer.text);
      const { contents } = (gemini.requests.at(-1)?.body ?? {}) as {
        contents: { parts: unknown[] }[];
      };
      assert.deepEqual(contents[0]?.parts, [{ inlineData }], JSON.stringify(asked));
    }
  } finally {
    await gateway.close();
    await gemini.close();
  }
});

test('a picture whose data: URI is no base64 becomes some where a format has no other place for it', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
  const images = [
    { type: 'image_url', image_url: { url: `data:image/svg+xml;utf8,${svg}` } },
    { type: 'image_url', image_url: { url: `data:image/svg+xml,${encodeURIComponent(svg)}` } },
  ];
  const choices = [{ index: 0, delta: { content: '', images }, finish_reason: 'stop' }];
  const openai = await startOpenAiUpstream(() => ({
    raw: `data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`,
  }));
  const gateway = await startGateway(
    `providers: { mock: { kind: openai, baseUrl: '${openai.baseUrl}', models: [test-model] } }`,
  );
  const model = 'mock/test-model';
  const data = Buffer.from(svg).toString('base64');
  const answerOf = async (path: string, body: Record<string, unknown>): Promise<unknown> => {
    const answer = await ask(gateway.origin, { path, body: { model, ...body } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  try {
    const messages = [{ role: 'user', content: 'Draw.' }];
    const { candidates } = (await answerOf(`/v1beta/models/${model}:generateContent`, {
      contents: [{ role: 'user', parts: [{ text: 'Draw.' }] }],
    })) as { candidates: { content: { parts: unknown[] } }[] };
    const inlineData = { mimeType: 'image/svg+xml', data };
    assert.deepEqual(candidates[0]?.content.parts, [{ inlineData }, { inlineData }]);
    const { message } = (await answerOf('/api/chat', { messages, stream: false })) as { message: object };
    assert.deepEqual(message, { role: 'assistant', content: '', images: [data, data] });
    const { output } = (await answerOf('/v1/responses', { input: 'Draw.' })) as {
      output: { type: string; result: string }[];
    };
    assert.deepEqual(
      output.map(({ type, result }) => [type, result]),
      [1, 2].map(() => ['image_generation_call', data]),
    );
  } finally {
    await gateway.close();
    await openai.close();
  }
});
