import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { createGoogle } from '@ai-sdk/google';
import { GoogleGenAI } from '@google/genai';
import { startGateway } from '../support/gateway.ts';
import { plainServer } from '../support/plain-server.ts';
import { generateAt, HI, type Json, postTo } from './gemini-world.ts';
import { all, assertHolds, FORMATS, openWorld, type World } from './sdk-vendors.ts';

const FOUND = readFileSync(new URL('../fixtures/search/searxng.json', import.meta.url), 'utf8');

describe('the Gemini API over HTTP', { timeout: 60_000 }, () => {
  let world: World;
  let closeEngine = (): void => {};
  const queries: string[] = [];
  before(async () => {
    const keep = (done: () => void): void => {
      closeEngine = done;
    };
    const engine = await plainServer({ after: keep }, (request, response) => {
      queries.push(new URL(request.url ?? '', 'http://x').searchParams.get('q') ?? '');
      response.writeHead(200, { 'content-type': 'application/json' }).end(FOUND);
    });
    world = await openWorld(
      `aliases: { fast: acme/test-model }\nsearch: { engine: searxng, url: '${engine.url}', pages: 0 }`,
    );
  });
  after(async () => {
    await world.close();
    closeEngine();
  });

  const post = (path: string, body: unknown, headers?: Record<string, string>) => postTo(world, path, body, headers);
  const client = (): GoogleGenAI => new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: world.origin } });
  const generate = (body: unknown, model?: string) => generateAt(world, body, model);

  for (const format of FORMATS) {
    test(`streams the elements of one JSON array without alt=sse (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['A', 'B'] });
      const answer = await post(`/v1beta/models/${seat.model}:streamGenerateContent`, HI);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      const all = (await answer.json()) as Json[];
      assert.ok(all.length > 1);
      assertHolds(all.at(-1), { candidates: [{ finishReason: 'STOP' }], usageMetadata: { totalTokenCount: 18 } });
      seat.answers({ text: ['A', 'B'], errorAfter: 1, errorMessage: 'Overheated.' });
      const broken = await post(`/v1beta/models/${seat.model}:streamGenerateContent`, HI);
      const last = ((await broken.json()) as { error?: { message: string; status: string } }[]).at(-1);
      assert.match(last?.error?.message ?? '', /Overheated\./);
    });

    test(`has an event for each part of a stream (${format})`, async () => {
      const seat = world.seat(format);
      const toolCalls = [{ id: 'call_w', name: 'weather', arguments: ['{}'] }];
      seat.answers({ reasoning: ['Let me ', 'think.'], text: ['A', 'B'], toolCalls, burst: 5 });
      const tools = [{ functionDeclarations: [{ name: 'weather' }] }];
      const generationConfig = { thinkingConfig: { includeThoughts: true } };
      const answer = await post(`/v1beta/models/${seat.model}:streamGenerateContent`, {
        ...HI,
        tools,
        generationConfig,
      });
      const all = (await answer.json()) as { candidates: [{ content: { parts: Json[] } }] }[];
      const pieces = all.map(({ candidates: [{ content }] }) => content.parts);
      for (const parts of pieces) assert.equal(parts.length, 1, JSON.stringify(parts));
      const said = (isThought: boolean) =>
        pieces.map(([part]) => ((part?.['thought'] === true) === isThought ? (part?.['text'] ?? '') : '')).join('');
      assert.deepEqual([said(true), said(false)], ['Let me think.', 'AB']);
      assertHolds(all.at(-1), { candidates: [{ content: { parts: [{ functionCall: { name: 'weather' } }] } }] });
    });

    test(`shows no thoughts where they are not wanted (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({
        reasoning: ['Let me ', 'think.'],
        text: ['A', 'B'],
        usage: { prompt: 11, completion: 9, reasoning: 4 },
      });
      for (const includeThoughts of [undefined, false, true]) {
        const body = { ...HI, generationConfig: { thinkingConfig: { includeThoughts, thinkingBudget: 2_000 } } };
        for (const method of ['generateContent', 'streamGenerateContent']) {
          const answer = await post(`/v1beta/models/${seat.model}:${method}`, body);
          const text = await answer.text();
          assert.equal(answer.status, 200, text);
          const all = [JSON.parse(text)].flat();
          const parts = all.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
          const said = (isThought: boolean) =>
            parts.map((part) => ((part.thought === true) === isThought ? (part.text ?? '') : '')).join('');
          assert.deepEqual([said(true), said(false)], [includeThoughts === true ? 'Let me think.' : '', 'AB']);
          assert.doesNotMatch(answer.headers.get('x-sluice-dropped') ?? '', /includeThoughts/);
          if (includeThoughts !== true) assert.doesNotMatch(text, /"thought"|think/);
          if (format !== 'anthropic') assertHolds(all.at(-1), { usageMetadata: { thoughtsTokenCount: 4 } });
        }
      }
    });

    test(`thoughts that are not shown come back with the call that they led to (${format})`, async () => {
      const seat = world.seat(format);
      const toolCalls = [{ id: 'call_w', name: 'weather', arguments: ['{}'] }];
      const config = {
        tools: [{ functionDeclarations: [{ name: 'weather' }] }],
        thinkingConfig: { thinkingBudget: 2_000 },
      };
      for (const streamed of [false, true]) {
        seat.answers({ reasoning: ['Let me ', 'think.'], text: ['A', 'B'], toolCalls });
        const chat = client().chats.create({ model: seat.model, config });
        const asked = { message: 'Hi' };
        const answers = streamed ? await all(await chat.sendMessageStream(asked)) : [await chat.sendMessage(asked)];
        const calls = answers.flatMap(({ functionCalls }) => functionCalls ?? []);
        assert.equal(calls.length, 1);
        assert.doesNotMatch(JSON.stringify(answers), /"thought":|Let me think/);
        seat.answers({ text: ['Rain.'] });
        const functionResponse = { id: calls[0]?.id ?? '', name: 'weather', response: { output: 'rain' } };
        await chat.sendMessage({ message: [{ functionResponse }] });
        assertHolds(
          seat.last.body,
          {
            openai: {
              messages: [{ role: 'user' }, { content: 'AB', reasoning_content: 'Let me think.' }, { role: 'tool' }],
            },
            anthropic: {
              messages: [
                { role: 'user' },
                {
                  content: [
                    { type: 'thinking', thinking: 'Let me think.', signature: 'sig-0' },
                    { type: 'text', text: 'AB' },
                    { type: 'tool_use' },
                  ],
                },
                { role: 'user' },
              ],
            },
            google: {
              contents: [
                { role: 'user' },
                { role: 'model', parts: [{ text: 'AB' }, { thoughtSignature: 'sig-call_w' }] },
                { role: 'user' },
              ],
            },
          }[format],
        );
        assert.doesNotMatch(JSON.stringify(seat.last.body), /sluice/);
      }
    });

    test(`tells of a failure inside of the events, and once more outside (${format})`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['A', 'B'], errorAfter: 1, errorMessage: 'Overheated.' });
      const answer = await post(`/v1beta/models/${seat.model}:streamGenerateContent?alt=sse`, HI);
      const events = (await answer.text()).split('\r\n\r\n');
      const [inside = '', outside = ''] = events.slice(-2);
      assert.ok(inside.startsWith('data: '));
      for (const text of [inside.slice('data: '.length), outside]) {
        assert.match((JSON.parse(text) as { error: { message: string } }).error.message, /Overheated\./);
      }
    });
  }

  test("the AI SDK's client, which puts no models/ before a name with a slash", async () => {
    const google = createGoogle({ baseURL: `${world.origin}/v1beta`, apiKey: 'any' });
    const seat = world.seat('openai');
    seat.answers({ text: ['Yes'] });
    const asked = { prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }] };
    for (const model of ['acme/test-model', 'acme:test-model', 'fast']) {
      const { content } = await google(model).doGenerate(asked);
      assert.deepEqual(
        content.map((part) => (part.type === 'text' ? part.text : part.type)),
        ['Yes'],
      );
    }
    const unknown = await post('/v1beta/acme/chat/completions', HI);
    assert.equal(unknown.status, 404);
    assert.match(await unknown.text(), /'acme\/chat\/completions' names no method.*<model>:generateContent/);
  });

  test('takes names in snake_case, single parts and single contents', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Yes'] });
    await generate({
      contents: { parts: { text: 'Hi' } },
      system_instruction: { parts: { text: 'Be brief, in JSON.' } },
      generation_config: { max_output_tokens: 5, response_mime_type: 'application/json', top_k: 3 },
      tools: {
        function_declarations: [
          {
            name: 'look_up',
            parameters: { type: 'OBJECT', properties: { my_name: { type: 'STRING', min_length: '2' } } },
          },
        ],
      },
    });
    assertHolds(seat.last.body, {
      messages: [
        { role: 'system', content: 'Be brief, in JSON.' },
        { role: 'user', content: 'Hi' },
      ],
      max_tokens: 5,
      top_k: 3,
      response_format: { type: 'json_object' },
      tools: [
        {
          type: 'function',
          function: {
            name: 'look_up',
            parameters: { type: 'object', properties: { my_name: { type: 'string', minLength: 2 } } },
          },
        },
      ],
    });
  });

  test('answers below /v1 too, with names of any form, and an alias', async () => {
    for (const path of [
      '/v1/models/acme/test-model:generateContent',
      '/v1/models/acme:test-model:generateContent',
      '/v1beta/models/acme%2Ftest-model:generateContent',
      '/v1beta/models/models/acme/test-model:generateContent',
      '/v1beta/models/fast:generateContent',
    ]) {
      world.seat('openai').answers({ text: ['Yes'] });
      const answer = await post(path, HI);
      assert.equal(answer.status, 200, path);
      assertHolds(await answer.json(), { candidates: [{ content: { parts: [{ text: 'Yes' }] } }] });
    }
    const known = await fetch(`${world.origin}/v1/models/acme/test-model`);
    assertHolds(await known.json(), { object: 'model', id: 'test-model' });
    // Google's library for Python lists them there.
    const clients: Record<string, string>[] = [
      { 'x-goog-api-client': 'google-genai-sdk/3.4.0 gl-python/3.11' },
      { 'x-goog-api-key': 'k' },
    ];
    for (const headers of clients) {
      const get = async (path: string): Promise<unknown> => (await fetch(`${world.origin}${path}`, { headers })).json();
      const { models } = (await get('/v1/models')) as { models: { name: string }[] };
      assert.equal(models[0]?.name, 'models/test-model');
      assert.deepEqual(await get('/v1/models/fast'), await get('/v1beta/models/fast'));
      assertHolds(await get('/v1/models/nothing'), { error: { code: 404, status: 'NOT_FOUND' } });
      assertHolds(await get('/v1/models?pageSize=x'), { error: { code: 400, status: 'INVALID_ARGUMENT' } });
    }
  });

  test('takes results without ids for those of the calls of that name, the oldest first', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Yes'] });
    const call = (city: string) => ({ functionCall: { name: 'weather', args: { city } } });
    const result = (output: string) => ({ functionResponse: { name: 'weather', response: { output } } });
    await generate({
      contents: [
        ...HI.contents,
        { role: 'model', parts: [call('Paris'), call('Oslo')] },
        { role: 'user', parts: [result('mild'), result('cold')] },
      ],
    });
    const { messages } = seat.last.body as { messages: (Json & { tool_calls?: { id: string; function: Json }[] })[] };
    const [paris, oslo] = messages[1]?.tool_calls ?? [];
    assert.deepEqual(
      [paris?.function['arguments'], oslo?.function['arguments']],
      ['{"city":"Paris"}', '{"city":"Oslo"}'],
    );
    assertHolds(messages.slice(2), [
      { role: 'tool', tool_call_id: paris?.id, content: 'mild' },
      { role: 'tool', tool_call_id: oslo?.id, content: 'cold' },
    ]);
  });

  test('offers only the functions that are allowed where one of them must be called', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Yes'] });
    const toolConfig = { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a', 'c'] } };
    const tools = [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }];
    await generate({ ...HI, tools, toolConfig });
    assertHolds(seat.last.body, { tool_choice: 'required' });
    assert.deepEqual(seat.last.tools, ['a', 'c']);
  });

  test('tells of a call that is no JSON, but not in the place of a limit that cut it', async () => {
    const seat = world.seat('openai');
    const toolCalls = [{ id: 'call_w', name: 'weather', arguments: ['{"city":"Pa'] }];
    for (const [finish, finishReason] of [
      ['tool_calls', 'MALFORMED_FUNCTION_CALL'],
      ['length', 'MAX_TOKENS'],
    ] as const) {
      seat.answers({ text: ['Well.'], toolCalls, finish });
      const parts = [{ text: 'Well.' }];
      assertHolds(await generate(HI), { candidates: [{ content: { parts }, finishReason }] });
    }
  });

  test('names a source once, whatever of the answer rests on it', async () => {
    const cited = (start_index: number, end_index: number): Json => ({
      type: 'url_citation',
      url_citation: { url: 'https://tides.example/', title: 'Tides', start_index, end_index },
    });
    const delta = { content: 'Twice a day.', annotations: [cited(0, 5), cited(6, 11), cited(5, 5)] };
    const choices = [{ index: 0, delta, finish_reason: 'stop' }];
    world.seat('openai').answers({ raw: `data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n` });
    const { candidates } = (await generate(HI)) as { candidates: Json[] };
    assert.deepEqual(candidates[0]?.['groundingMetadata'], {
      groundingChunks: [{ web: { uri: 'https://tides.example/', title: 'Tides' } }],
      groundingSupports: [
        { segment: { startIndex: 0, endIndex: 5, text: 'Twice' }, groundingChunkIndices: [0] },
        { segment: { startIndex: 6, endIndex: 11, text: 'a day' }, groundingChunkIndices: [0] },
      ],
    });
  });

  test('gives as many candidates as are asked for', async () => {
    const seat = world.seat('openai');
    let count = 0;
    seat.answers(() => {
      count += 1;
      return { text: [`No. ${count}`], usage: { prompt: 3, completion: 2 } };
    });
    const answer = await generate({ ...HI, generationConfig: { candidateCount: 3 } });
    assertHolds(answer, {
      candidates: [{ index: 0 }, { index: 1 }, { index: 2 }],
      usageMetadata: { totalTokenCount: 15 },
    });
    assert.equal(seat.arrived.length, 3);
  });

  test('tells which fields have no place, and refuses them where that is asked for', async () => {
    world.seat('openai').answers({ text: ['Yes'] });
    const body = {
      ...HI,
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      generationConfig: { speechConfig: {}, thinkingConfig: { thinkingBudget: 500 } },
      tools: [{ codeExecution: {} }],
    };
    const names = [
      'tools.codeExecution',
      'generationConfig.speechConfig',
      'generationConfig.thinkingConfig.thinkingBudget',
      'safetySettings',
      'generationConfig.thinkingConfig',
    ];
    assert.deepEqual(String((await generate(body))['dropped']).split(', '), names);
    for (const [path, headers] of [
      ['/v1beta/models/acme/test-model:generateContent', { 'x-sluice-strict': '1' }],
      ['/v1beta/models/acme/test-model:streamGenerateContent?alt=sse', { 'x-sluice-strict': '1' }],
    ] as const) {
      const answer = await post(path, body, headers);
      assert.equal(answer.status, 400);
      assertHolds(await answer.json(), {
        error: { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'unsupported_field' }, {}] },
      });
    }
    // One candidate is all that a stream has.
    const several = { ...HI, generationConfig: { candidateCount: 2 } };
    const streamed = await post('/v1beta/models/acme/test-model:streamGenerateContent', several);
    assert.equal(streamed.headers.get('x-sluice-dropped'), 'generationConfig.candidateCount');
    await streamed.text();
    // A schema is for JSON only, in our words.
    const chosen = { responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a', 'b'] } };
    const { dropped } = await generate({ ...HI, generationConfig: chosen });
    assert.equal(dropped, 'generationConfig.responseMimeType, generationConfig.responseSchema');
    // In the client's own words, even for what adapters call by other names.
    const claude = world.seat('anthropic');
    claude.answers({ text: ['Yes'] });
    const seeded = { ...HI, generationConfig: { seed: 7 } };
    assert.equal((await generate(seeded, claude.model))['dropped'], 'generationConfig.seed');
    const refused = await post(`/v1beta/models/${claude.model}:generateContent`, { ...seeded, strict: true });
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /'generationConfig\.seed'/);
  });

  test('drops nothing that has a place', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['{}'] });
    const functionCall = { id: 'c1', name: 'look', args: { at: 'sea' } };
    const png = 'iVBORw0KGgo=';
    const body = {
      systemInstruction: { parts: [{ text: 'Be exact.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Look.' }, { inlineData: { mimeType: 'image/png', data: png } }] },
        { role: 'model', parts: [{ text: 'Hm.', thought: true }, { text: 'So.' }, { functionCall }] },
        { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'look', response: { output: 'blue' } } }] },
        { role: 'model', parts: [{ text: 'Blue.' }] },
        { role: 'user', parts: [{ fileData: { mimeType: 'image/png', fileUri: 'https://tides.example/a.png' } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'look', description: 'Looks', parameters: { type: 'OBJECT' } }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
      generationConfig: {
        temperature: 0.5,
        topP: 0.9,
        maxOutputTokens: 99,
        candidateCount: 1,
        stopSequences: ['x'],
        seed: 7,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'object' },
        thinkingConfig: { thinkingLevel: 'LOW' },
        responseModalities: ['Text', 'TEXT'],
        mediaResolution: null,
      },
    };
    assert.equal((await generate(body, 'acme/gpt-5.1'))['dropped'], null);
    assertHolds(seat.last.body, { temperature: 0.5, frequency_penalty: 0.2, reasoning_effort: 'low' });
    for (const other of ['IMAGE', 7]) {
      const drawn = { ...HI, generationConfig: { responseModalities: ['TEXT', other] } };
      assert.equal((await generate(drawn))['dropped'], 'generationConfig.responseModalities');
    }
  });

  test('takes budgets of thoughts for efforts', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Yes'] });
    for (const [thinkingBudget, effort] of [
      [0, 'none'],
      [1, 'low'],
      [4_096, 'low'],
      [4_097, 'medium'],
      [16_384, 'medium'],
      [16_385, 'high'],
      [-1, undefined],
    ] as const) {
      await generate({ ...HI, generationConfig: { thinkingConfig: { thinkingBudget } } }, 'acme/gpt-5.1');
      assert.equal((seat.last.body as Json)['reasoning_effort'], effort, `${thinkingBudget}`);
    }
  });

  test('tells others of code that Google ran', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Yes'] });
    const ran = [
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
    ];
    await generate({ contents: [...HI.contents, { role: 'model', parts: ran }, ...HI.contents] });
    const said = JSON.stringify((seat.last.body as { messages: unknown[] }).messages[1]);
    assert.ok(said.includes(JSON.stringify('```python\nprint(1)\n```').slice(1, -1)), said);
    assert.ok(said.includes('1\\n'), said);
  });

  test('tells why an answer ended in the words of the API', async () => {
    const seat = world.seat('openai');
    const ended = async (answer: Json): Promise<readonly Json[]> => {
      const choices = [{ index: 0, ...answer }];
      seat.answers({ raw: `data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n` });
      const streamed = await post('/v1beta/models/acme/test-model:streamGenerateContent', HI);
      const pieces = (await streamed.json()) as { candidates: Json[] }[];
      const whole = ((await generate(HI)) as { candidates: Json[] }).candidates;
      return [...whole, ...pieces.flatMap(({ candidates }) => candidates).slice(-1)];
    };
    for (const [finish_reason, finishReason] of [
      ['stop', 'STOP'],
      ['length', 'MAX_TOKENS'],
      ['content_filter', 'SAFETY'],
      ['recitation', 'RECITATION'],
      ['malformed_function_call', 'MALFORMED_FUNCTION_CALL'],
      ['tired', 'OTHER'],
    ] as const) {
      const both = await ended({ delta: { content: 'Well.' }, finish_reason });
      assertHolds(both, [{ finishReason }, { finishReason }]);
    }
    const refused = await ended({ delta: { refusal: 'I will not.' }, finish_reason: 'stop' });
    const refusal = { finishReason: 'SAFETY', finishMessage: 'I will not.' };
    assertHolds(refused, [{ ...refusal, content: { parts: [{ text: 'I will not.' }] } }, refusal]);
  });

  test('lets nobody say where a request goes', async () => {
    const seat = world.seat('google');
    seat.answers({ text: ['Yes'] });
    const answer = await generate(
      { ...HI, base_url: 'http://x.example', extraBody: { a: 1 }, apiKey: 'mine' },
      seat.model,
    );
    assert.equal(answer['dropped'], 'baseUrl, extraBody');
    assert.deepEqual(seat.last.body, HI);
    assert.equal(seat.last.headers['x-goog-api-key'], 'mine');
  });

  test('tries further models where the first cannot answer', async () => {
    world.seat('google').answers({ status: 503, errorMessage: 'Busy.' });
    const claude = world.seat('anthropic');
    claude.answers({ text: ['Yes'] });
    const body = { ...HI, models: [claude.model], safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT' }] };
    const answer = await generate(body, 'gemini/gemini-2.5-flash');
    assertHolds(answer, { modelVersion: 'claude-sonnet-4-5', dropped: 'safetySettings' });
  });

  test('makes pictures where the model does', async () => {
    const seat = world.seat('google');
    seat.answers({ text: ['Here.'], images: [{ mimeType: 'image/png', data: 'iVBORw0KGgo=' }] });
    const body = { ...HI, generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } };
    const answer = await generate(body, 'gemini/gemini-2.5-flash-image');
    assert.deepEqual((seat.last.body as Json)['generationConfig'], body.generationConfig);
    const parts = [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }];
    assertHolds(answer, { candidates: [{ content: { parts } }] });
  });

  test('passes over a content without parts among others', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Yes'] });
    await generate({ contents: [{}, ...HI.contents, { role: 'model', parts: [] }, ...HI.contents] }, seat.model);
    assert.deepEqual((seat.last.body as Json)['messages'], [
      { role: 'user', content: 'Hi' },
      { role: 'user', content: 'Hi' },
    ]);
  });

  test('says what is wrong in the form of Google', async () => {
    for (const [path, body, status, word, pattern] of [
      ['/v1beta/models/acme/test-model:generateContent', {}, 400, 'INVALID_ARGUMENT', /contents/],
      [
        '/v1beta/models/acme/test-model:generateContent',
        { contents: [{ parts: [{ text: 5 }] }] },
        400,
        'INVALID_ARGUMENT',
        /contents\[0\]\.parts\[0\]\.text/,
      ],
      ['/v1beta/models/acme/test-model:generateContent', { contents: [] }, 400, 'INVALID_ARGUMENT', /contents/],
      ...[[{}], [{ parts: [] }], [{ role: 'user', parts: [{}] }, {}], {}].map(
        (contents) =>
          [
            '/v1beta/models/acme/test-model:generateContent',
            { contents },
            400,
            'INVALID_ARGUMENT',
            /'contents\[0\]\.parts' must not be empty/,
          ] as const,
      ),
      ['/v1/models/acme/test-model:generateContent', {}, 400, 'INVALID_ARGUMENT', /contents/],
      ['/v1beta/models/nobody:generateContent', HI, 404, 'NOT_FOUND', /nobody/],
      ['/v1beta/models/acme/test-model:divine', HI, 404, 'NOT_FOUND', /divine/],
      ['/v1beta/models/acme/test-model:countTokens', {}, 400, 'INVALID_ARGUMENT', /contents/],
    ] as const) {
      const answer = await post(path, body);
      assert.equal(answer.status, status, path);
      const { error } = (await answer.json()) as { error: { code: number; status: string; message: string } };
      assert.deepEqual([error.code, error.status], [status, word]);
      assert.match(error.message, pattern);
    }
    const missing = await fetch(`${world.origin}/v1beta/models/nobody`);
    assert.equal(missing.status, 404);
    assertHolds(await missing.json(), { error: { code: 404, status: 'NOT_FOUND' } });
  });

  test('lists models page by page, and describes one', async () => {
    const client = new GoogleGenAI({ apiKey: 'secret', httpOptions: { baseUrl: world.origin } });
    const names: (string | undefined)[] = [];
    for await (const model of await client.models.list({ config: { pageSize: 2 } })) names.push(model.name);
    assert.deepEqual(names, [
      'models/test-model',
      'models/claude-sonnet-4-5',
      'models/claude-3-haiku-20240307',
      'models/gemini-2.5-flash',
      'models/gemini-2.5-flash-image',
      'models/gemini-embedding-001',
      'models/gemini-2.5-flash-preview-tts',
      'models/fast',
    ]);
    const one = await client.models.get({ model: 'gemini/gemini-2.5-flash' });
    assertHolds(one, { name: 'models/gemini/gemini-2.5-flash', inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 });
    assert.ok(one.supportedActions?.includes('generateContent'));
    for (const query of ['pageSize=x', 'pageToken=x']) {
      assert.equal((await fetch(`${world.origin}/v1beta/models?${query}`)).status, 400);
    }
  });

  test('counts tokens: Google where it is asked, else by estimate', async () => {
    const client = new GoogleGenAI({ apiKey: 'secret', httpOptions: { baseUrl: world.origin } });
    const google = world.seat('google');
    google.answers({ usage: { prompt: 42, completion: 0 } });
    assert.equal((await client.models.countTokens({ model: google.model, contents: 'Hello' })).totalTokens, 42);
    assert.match(google.last.path, /models\/gemini-2\.5-flash:countTokens$/);
    assertHolds(google.last.body, {
      generateContentRequest: { model: 'models/gemini-2.5-flash', contents: [{ parts: [{ text: 'Hello' }] }] },
    });
    const few = await client.models.countTokens({ model: 'acme/test-model', contents: 'Hello' });
    const many = await client.models.countTokens({ model: 'acme/test-model', contents: 'Hello there, '.repeat(50) });
    assert.ok((few.totalTokens ?? 0) > 0 && (many.totalTokens ?? 0) > 100);
  });

  test('counts for no longer than the client gives it', async (context) => {
    const silent = await plainServer(context, () => {});
    const gateway = await startGateway(`providers: { gemini: { baseUrl: '${silent.url}', apiKey: google-key } }`);
    context.after(() => gateway.close());
    const path = '/v1beta/models/gemini/gemini-2.5-flash:countTokens';
    for (const body of [{ ...HI, timeout: 0.5 }, { generateContentRequest: { ...HI, timeout: 0.5 } }]) {
      const answer = await postTo(gateway, path, body);
      const { error } = (await answer.json()) as { error: Json };
      assert.equal(answer.status, 504);
      assert.match(String(error['message']), /longer than 500 ms/);
    }
  });

  test('searches the web for googleSearch before everybody else, and tells of the sources', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['About ', '150 years.'] });
    const body = { contents: [{ parts: [{ text: 'How old do tortoises get?' }] }], tools: [{ googleSearch: {} }] };
    const answer = await generate(body);
    assert.deepEqual(queries, ['How old do tortoises get?']);
    assert.equal(answer['dropped'], null);
    assert.match(seat.last.prompt, /^<search-results /);
    const [candidate] = answer['candidates'] as {
      content: unknown;
      groundingMetadata: { groundingChunks: unknown[] };
    }[];
    assert.deepEqual(candidate?.content, { parts: [{ text: 'About 150 years.' }], role: 'model' });
    assert.ok((candidate?.groundingMetadata.groundingChunks.length ?? 0) > 1);
    assertHolds(candidate?.groundingMetadata.groundingChunks[0], { web: {} });
    // By its older name too.
    await generate({ ...HI, tools: { googleSearchRetrieval: {} } });
    assert.deepEqual(queries.slice(1), ['Hi']);
  });

  test('has Google, which comes after the others, not search for what was found', async () => {
    const body = { ...HI, models: [world.seat('google').model] };
    world.seat('openai').answers({ status: 503, errorMessage: 'Busy.' });
    const google = world.seat('google');
    google.answers({ text: ['Yes'] });
    const functions = { functionDeclarations: [{ name: 'look', parameters: { type: 'OBJECT' } }] };
    for (const [tools, kept] of [
      [
        [{ googleSearch: {} }, functions, { codeExecution: {} }],
        [functions, { codeExecution: {} }],
      ],
      [[{ googleSearch: {}, codeExecution: {} }], [{ codeExecution: {} }]],
      [{ googleSearch: {} }, undefined],
    ]) {
      await generate({ ...body, tools });
      assert.deepEqual((google.last.body as Json)['tools'], kept);
      assert.match(google.last.prompt, /<search-results /);
    }
  });
});
