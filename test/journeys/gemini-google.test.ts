import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { plainServer } from '../support/plain-server.ts';
import { usageLines } from '../support/usage.ts';
import { generateAt, HI, postTo } from './gemini-world.ts';
import { assertHolds, openWorld, type World } from './sdk-vendors.ts';

describe('the Gemini API before Google', { timeout: 60_000 }, () => {
  let world: World;
  let closeEngine = (): void => {};
  let searches = 0;
  before(async () => {
    const keep = (done: () => void): void => {
      closeEngine = done;
    };
    const engine = await plainServer({ after: keep }, (_request, response) => {
      searches += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"results":[]}');
    });
    world = await openWorld(`search: { engine: searxng, url: '${engine.url}', pages: 0 }`);
  });
  after(async () => {
    await world.close();
    closeEngine();
  });

  const post = (path: string, body: unknown, headers?: Record<string, string>) => postTo(world, path, body, headers);
  const generate = (body: unknown, model?: string) => generateAt(world, body, model);
  const sse = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('');

  test('hands over requests and answers as they are', async () => {
    const seat = world.seat('google');
    const parts = [
      { text: 'Let me compute.' },
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
      { text: 'It is 1.', thoughtSignature: 'c2lnbmVk' },
    ];
    const groundingMetadata = {
      webSearchQueries: ['one'],
      searchEntryPoint: { renderedContent: '<b>one</b>' },
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
    };
    const usageMetadata = {
      promptTokenCount: 5,
      candidatesTokenCount: 4,
      totalTokenCount: 9,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 5 }],
    };
    const end = {
      finishReason: 'STOP',
      groundingMetadata,
      safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE' }],
      index: 0,
    };
    const rest = { usageMetadata, modelVersion: 'gemini-2.5-flash-001', responseId: 'r-1' };
    const raw = sse(
      { candidates: [{ content: { parts: parts.slice(0, 2), role: 'model' }, index: 0 }], responseId: 'r-1' },
      { candidates: [{ content: { parts: parts.slice(2), role: 'model' }, ...end }], ...rest },
    );
    seat.answers({ raw });
    const body = {
      systemInstruction: { parts: [{ text: 'Be exact.' }] },
      contents: [
        { role: 'user', parts: [{ inlineData: { mimeType: 'video/mp4', data: 'AAAA' }, videoMetadata: { fps: 2 } }] },
        { role: 'model', parts },
        { role: 'user', parts: [{ text: 'Again.' }, { fileData: { fileUri: 'gs://b/c', mimeType: 'image/png' } }] },
      ],
      tools: [{ codeExecution: {} }, { googleSearch: { timeRangeFilter: {} } }],
      toolConfig: { retrievalConfig: { languageCode: 'de' } },
      generationConfig: { thinkingConfig: { thinkingBudget: 128 }, speechConfig: { voice: 'x' }, topK: 5 },
      safetySettings: [{ category: 'HARM_CATEGORY_JAILBREAK', threshold: 'OFF' }],
      cachedContent: 'cachedContents/1',
      labels: { team_name: 'a' },
    };
    const answer = await generate(body, seat.model);
    assert.deepEqual(seat.last.body, body);
    assert.equal(answer['dropped'], null);
    const expected = { candidates: [{ content: { parts, role: 'model' }, ...end }], ...rest };
    assert.deepEqual({ ...answer, dropped: undefined }, { ...expected, dropped: undefined });
    assert.equal(searches, 0, 'Google searches by itself');
    const streamed = (await (await post(`/v1beta/models/${seat.model}:streamGenerateContent`, body)).json()) as {
      candidates: { content: { parts: unknown[] } }[];
    }[];
    assert.deepEqual(
      streamed.flatMap(({ candidates }) => candidates[0]?.content.parts ?? []),
      [...parts, { text: '' }],
    );
    assertHolds(streamed.at(-1), { candidates: [{ finishReason: 'STOP', groundingMetadata }], usageMetadata });
  });

  test('counts what Google’s own tools read to the prompt, and tells what of it was kept ready', async () => {
    const seat = world.seat('google');
    const usageMetadata = {
      promptTokenCount: 1_005,
      toolUsePromptTokenCount: 7,
      candidatesTokenCount: 4,
      cachedContentTokenCount: 900,
    };
    const content = { parts: [{ text: 'One.' }], role: 'model' };
    seat.answers({ raw: sse({ candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata }) });
    await generate(HI, seat.model);
    await eventually('it is recorded', async () => {
      const lines = await usageLines(world.origin);
      return lines.some((line) => /"prompt_tokens":1012,"completion_tokens":4\b.*"saved_tokens":900\b/.test(line));
    });
  });

  test('keeps a signature with the text that it ends, whatever comes at once with it', async () => {
    const seat = world.seat('google');
    const parts = [{ text: 'One.', thoughtSignature: 'c2lnbmVk' }, { text: 'Two.' }];
    seat.answers({
      raw: sse({ candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0 }] }),
    });
    const answer = await post(`/v1beta/models/${seat.model}:streamGenerateContent`, HI);
    const streamed = (await answer.json()) as { candidates: { content: { parts: unknown[] } }[] }[];
    assert.deepEqual(
      streamed.flatMap(({ candidates }) => candidates[0]?.content.parts ?? []),
      [...parts, { text: '' }],
    );
  });

  test('says what blocked a prompt', async () => {
    const seat = world.seat('google');
    const promptFeedback = { blockReason: 'PROHIBITED_CONTENT' };
    seat.answers({ raw: sse({ promptFeedback, usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 } }) });
    const answer = await generate(HI, seat.model);
    assertHolds(answer, { promptFeedback, usageMetadata: { totalTokenCount: 5 } });
    assert.equal(answer['candidates'], undefined);
  });

  test('keeps the words of Google for why an answer ended', async () => {
    const seat = world.seat('google');
    for (const finishReason of ['MALFORMED_FUNCTION_CALL', 'RECITATION', 'OTHER', 'SOMETHING_NEW']) {
      seat.answers({ raw: sse({ candidates: [{ finishReason, finishMessage: 'why', index: 0 }] }) });
      assertHolds(await generate(HI, seat.model), { candidates: [{ finishReason, finishMessage: 'why' }] });
    }
  });

  test('never takes a stream for whole that was cut', async () => {
    const seat = world.seat('google');
    seat.answers({ text: ['A', 'B'], endAfter: 1 });
    const answer = await post(`/v1beta/models/${seat.model}:generateContent`, HI);
    assert.equal(answer.status, 502);
  });

  test('mends the first call for models that insist on a signature', async () => {
    const seat = world.seat('google');
    seat.answers({ text: ['Yes'] });
    const calls = [
      { functionCall: { id: 'a', name: 'f', args: {} } },
      { functionCall: { id: 'b', name: 'f', args: {} } },
    ];
    const contents = [...HI.contents, { role: 'model', parts: calls }, ...HI.contents];
    const [first, second] = calls;
    const mended = [{ ...first, thoughtSignature: 'skip_thought_signature_validator' }, second];
    const sent = () => (seat.last.body as { contents: { parts: unknown }[] }).contents[1]?.parts;
    for (const model of ['gemini-3-pro', 'gemini-3.5-flash', 'gemini-pro-latest', 'gemini-flash-lite-latest']) {
      await generate({ contents }, `gemini/${model}`);
      assert.deepEqual(sent(), mended, model);
    }
    for (const model of [seat.model, 'gemini/gemini-2.5-flash-native-audio-latest']) {
      await generate({ contents }, model);
      assert.deepEqual(sent(), calls, model);
    }
    const signed = [{ ...first, thoughtSignature: 'c2lnbmVk' }, second];
    await generate(
      { contents: [...HI.contents, { role: 'model', parts: signed }, ...HI.contents] },
      'gemini/gemini-3-pro',
    );
    assert.deepEqual(sent(), signed);
  });
});
