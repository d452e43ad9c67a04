import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chatRequest } from '../../../test/support/chat-request.ts';
import { member } from '../../../test/support/vendor-server.ts';
import { allChunks, contentOf, finishOf, openVendor, untilFailure } from '../../../test/support/vendors.ts';
import type { Message } from '../../core/chat.ts';

const TOOLS = [{ name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } }];

describe('google', () => {
  test('a request in the words of the Gemini API, the key in a header only', async () => {
    await using vendor = await openVendor('google', () => ({ text: ['{}'] }));
    await allChunks(
      vendor.chat(
        chatRequest(
          [
            { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
            { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
          ],
          {
            model: 'gemini-3-pro-preview',
            sampling: {
              temperature: 0.5,
              topP: 0.9,
              topK: 3,
              maxTokens: 100,
              stop: ['END'],
              seed: 7,
              presencePenalty: 1,
            },
            tools: TOOLS,
            toolChoice: 'auto',
            responseFormat: { type: 'json_schema', name: 'answer', schema: { type: 'object', properties: { a: {} } } },
          },
        ),
      ),
    );
    const [request] = vendor.upstream.requests;
    assert.equal(request?.path, '/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse');
    assert.equal(request?.headers['x-goog-api-key'], 'key-of-the-test');
    const config = member(request?.body, 'generationConfig');
    assert.equal(member(config, 'temperature'), 0.5);
    assert.equal(member(config, 'topP'), 0.9);
    assert.equal(member(config, 'topK'), 3);
    assert.equal(member(config, 'maxOutputTokens'), 100);
    assert.equal(member(config, 'seed'), 7);
    assert.equal(member(config, 'presencePenalty'), 1);
    assert.deepEqual(member(config, 'stopSequences'), ['END']);
    assert.equal(member(config, 'responseMimeType'), 'application/json');
    assert.deepEqual(member(config, 'responseJsonSchema'), { type: 'object', properties: { a: {} } });
    assert.deepEqual(member(request?.body, 'systemInstruction', 'parts'), [{ text: 'Be brief.' }]);
    assert.equal(member(request?.body, 'toolConfig', 'functionCallingConfig', 'mode'), 'AUTO');
  });

  test('text in the place of the JSON that was asked for beside tools, of a model that knows no schema then', async () => {
    const json = { id: 'call_j', name: 'json', arguments: ['{"a":1}'] };
    const look = { id: 'call_l', name: 'look', arguments: ['{"at":"sky"}'] };
    const text = ['Well, ', 'no.'];
    const answers = [{ text }, { text, toolCalls: [json] }, { text, toolCalls: [look] }];
    await using vendor = await openVendor('google', () => answers.shift() ?? {});
    const seen = [];
    while (answers.length > 0) {
      const chunks = await allChunks(
        vendor.chat(
          chatRequest('Look', {
            tools: TOOLS,
            responseFormat: { type: 'json_schema', name: 'j', schema: { type: 'object', properties: { a: {} } } },
          }),
        ),
      );
      const said = chunks.filter((chunk) => chunk.type === 'content' || chunk.type === 'tool_call');
      seen.push({ first: said[0]?.type, content: contentOf(chunks), finish: finishOf(chunks) });
    }
    assert.deepEqual(seen, [
      { first: 'content', content: 'Well, no.', finish: 'stop' },
      { first: 'content', content: '{"a":1}', finish: 'stop' },
      { first: 'content', content: 'Well, no.', finish: 'tool_calls' },
    ]);
  });

  test('thoughts are asked for with the effort', async () => {
    await using vendor = await openVendor('google', () => ({ text: ['Hi'] }));
    for (const reasoningEffort of ['high', 'none']) {
      await allChunks(vendor.chat(chatRequest('Hello', { sampling: { reasoningEffort } })));
    }
    const [high, none] = vendor.upstream.requests.map(({ body }) => member(body, 'generationConfig', 'thinkingConfig'));
    assert.equal(member(high, 'includeThoughts'), true);
    assert.equal(member(none, 'includeThoughts'), undefined);
    assert.equal(member(none, 'thinkingBudget'), 0);
  });

  test('an image of the answer is media', async () => {
    await using vendor = await openVendor('google', () => ({
      text: ['Here:'],
      images: [{ mimeType: 'image/png', data: 'AAAA' }],
    }));
    const chunks = await allChunks(vendor.chat(chatRequest('Draw', { model: 'gemini-2.5-flash-image' })));
    assert.deepEqual(
      chunks.find((chunk) => chunk.type === 'media'),
      { type: 'media', media: { kind: 'image', url: 'data:image/png;base64,AAAA', mimeType: 'image/png' } },
    );
    const config = member(vendor.upstream.requests[0]?.body, 'generationConfig');
    assert.deepEqual(member(config, 'responseModalities'), ['TEXT', 'IMAGE']);
  });

  test('an image by https address is fetched by Google, any other is refused', async () => {
    await using vendor = await openVendor('google', ({ images }) => ({ text: [`${images}`] }));
    const ask = (url: string): Message[] => [{ role: 'user', content: [{ type: 'media', kind: 'image', url }] }];
    await allChunks(vendor.chat(chatRequest(ask('https://img.example/a.png'))));
    assert.deepEqual(member(vendor.upstream.requests[0]?.body, 'contents', 0, 'parts'), [
      { fileData: { mimeType: 'image/png', fileUri: 'https://img.example/a.png' } },
    ]);
    const { error } = await untilFailure(vendor.chat(chatRequest(ask('http://127.0.0.1/a.png'))));
    assert.equal(error.code, 'invalid_request');
    assert.equal(vendor.upstream.requests.length, 1);
  });

  test("a call's signature goes back with its result", async () => {
    await using vendor = await openVendor('google', ({ prompt }) =>
      prompt === 'Go'
        ? { toolCalls: [{ id: 'call_1', name: 'look', arguments: ['{"at":"sky"}'] }] }
        : { text: ['Blue'] },
    );
    const fields = { tools: TOOLS, model: 'gemini-3-pro-preview' };
    await allChunks(vendor.chat(chatRequest('Go', fields)));
    const turn: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'Go' }] },
      { role: 'assistant', content: [], toolCalls: [{ id: 'call_1', name: 'look', arguments: '{"at":"sky"}' }] },
      { role: 'tool', toolCallId: 'call_1', content: [{ type: 'text', text: 'blue' }] },
    ];
    await allChunks(vendor.chat(chatRequest(turn, fields)));
    const part = member(vendor.upstream.requests[1]?.body, 'contents', 1, 'parts', 0);
    assert.equal(member(part, 'thoughtSignature'), 'sig-call_1');
    assert.deepEqual(member(part, 'functionCall', 'args'), { at: 'sky' });
  });

  test('thoughts and text that come at once are kept apart', async () => {
    const said = [
      { text: 'Hm, ', thought: true },
      { text: 'so.', thought: true },
      { text: 'Yes ' },
      { text: 'and no.' },
    ];
    const events = said.map((part) => ({ candidates: [{ content: { parts: [part], role: 'model' }, index: 0 }] }));
    const raw = [...events, { candidates: [{ finishReason: 'STOP' }] }]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join('');
    await using vendor = await openVendor('google', () => ({ raw }));
    const chunks = await allChunks(vendor.chat(chatRequest('Hello')));
    assert.equal(contentOf(chunks), 'Yes and no.');
    const thoughts = chunks.flatMap((chunk) => (chunk.type === 'reasoning' ? [chunk.reasoning] : []));
    assert.equal(thoughts.join(''), 'Hm, so.');
  });

  test('a prompt that is blocked is filtered', async () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } };
    await using vendor = await openVendor('google', () => ({ raw: `data: ${JSON.stringify(blocked)}\n\n` }));
    const chunks = await allChunks(vendor.chat(chatRequest('Hello')));
    assert.deepEqual(chunks.at(-1), { type: 'finish', finish: 'content_filter' });
  });

  test('a malformed call is a failure of the model', async () => {
    const failed = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] };
    await using vendor = await openVendor('google', () => ({ raw: `data: ${JSON.stringify(failed)}\n\n` }));
    const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
    assert.equal(error.code, 'upstream_failed');
    assert.match(error.message, /MALFORMED_FUNCTION_CALL/);
  });

  test('a key Google does not know, and how long to wait', async () => {
    await using unknown = await openVendor('google', () => ({
      status: 400,
      errorMessage: 'API key not valid. Please pass a valid API key.',
    }));
    const refused = await untilFailure(unknown.chat(chatRequest('Hello')));
    assert.equal(refused.error.code, 'missing_credentials');
    assert.equal(refused.error.status, 401);

    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '33.4s' }];
    const quota = { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED', details } };
    // In the place of a stream it may be the one element of a list, as the stream without `alt=sse` is one.
    for (const body of [quota, [quota]]) {
      await using limited = await openVendor('google', () => ({ status: 429, raw: JSON.stringify(body) }));
      const { error } = await untilFailure(limited.chat(chatRequest('Hello')));
      assert.deepEqual([error.message, error.options.retryAfter], ['Quota exceeded', 34]);
    }
  });

  test('an error with status 200, as the one element of a list', async () => {
    const raw = JSON.stringify([{ error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } }]);
    const headers = { 'content-type': 'application/json; charset=UTF-8' };
    await using vendor = await openVendor('google', () => ({ raw, headers }));
    const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
    assert.deepEqual([error.code, error.message], ['rate_limited', 'Quota exceeded']);
  });

  test('names may not lead to other methods', async () => {
    await using vendor = await openVendor('google', () => ({ text: ['Hello'] }));
    for (const model of ['files/x', 'gemini:batchEmbedContents', 'models/a/b']) {
      const { error } = await untilFailure(vendor.chat(chatRequest('Hello', { model })));
      assert.equal(error.code, 'model_not_found');
    }
    assert.equal(vendor.upstream.requests.length, 0);
  });

  test('the listing holds what answers chats, speaks or embeds', async () => {
    await using vendor = await openVendor('google', () => ({}));
    const models = await vendor.provider.models({}, AbortSignal.timeout(10_000));
    assert.deepEqual(models, [
      {
        id: 'gemini-2.5-flash',
        label: 'Gemini 2.5 Flash',
        contextLength: 1_048_576,
        longestAnswer: 65_536,
        vision: true,
        audio: true,
        video: true,
        tools: true,
        reasoning: true,
      },
      {
        id: 'gemini-2.5-flash-image',
        label: 'Nano Banana',
        contextLength: 32_768,
        vision: true,
        audio: true,
        video: true,
        image: true,
      },
      { id: 'gemini-embedding-001', type: 'embedding' },
      { id: 'gemini-2.5-flash-preview-tts', type: 'speech', audio: true },
    ]);
    const [request] = vendor.upstream.requests;
    assert.equal(request?.path, '/v1beta/models?pageSize=1000');
    assert.equal(request?.headers['x-goog-api-key'], 'key-of-the-test');
  });
});
