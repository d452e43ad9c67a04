import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chatRequest } from '../../../test/support/chat-request.ts';
import type { Message, Part } from '../../core/chat.ts';
import { encodeRequest } from './encode.ts';
import { serviceAt } from './services.ts';

const user = (...content: Part[]): Message => ({ role: 'user', content });
const text = (words: string): Part => ({ type: 'text', text: words });
const messagesOf = (...messages: Message[]): unknown => encodeRequest(chatRequest(messages), true)['messages'];

describe('a request in the wire format of OpenAI', () => {
  test('only what was asked for', () => {
    assert.deepEqual(encodeRequest(chatRequest('Hi'), true), {
      model: 'test-model',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
    });
    assert.deepEqual(Object.keys(encodeRequest(chatRequest('Hi'), false)), ['model', 'messages', 'stream']);
  });

  test('every setting under its name', () => {
    const encoded = encodeRequest(
      chatRequest('Hi', {
        sampling: {
          temperature: 0,
          topP: 0.5,
          topK: 40,
          maxTokens: 9,
          stop: ['END'],
          seed: 7,
          presencePenalty: -1,
          frequencyPenalty: 1,
          reasoningEffort: 'low',
        },
        tools: [{ name: 'f', description: 'does', parameters: { type: 'object' }, strict: true }],
        toolChoice: { name: 'f' },
        parallelToolCalls: false,
        responseFormat: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true },
      }),
      false,
    );
    const { model: _model, messages: _messages, stream: _stream, ...settings } = encoded;
    assert.deepEqual(settings, {
      temperature: 0,
      top_p: 0.5,
      top_k: 40,
      max_tokens: 9,
      stop: ['END'],
      seed: 7,
      presence_penalty: -1,
      frequency_penalty: 1,
      reasoning_effort: 'low',
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'does', parameters: { type: 'object' }, strict: true },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
    });
    assert.deepEqual(
      encodeRequest(chatRequest('', { responseFormat: { type: 'json_object' } }), true)['response_format'],
      {
        type: 'json_object',
      },
    );
    const tools = [{ name: 'f' }];
    const toolChoice = 'required';
    assert.equal(encodeRequest(chatRequest('', { tools, toolChoice }), true)['tool_choice'], 'required');
    // A choice among no tools is an error to OpenAI.
    for (const none of [{}, { tools: [] }]) {
      const encoded = encodeRequest(chatRequest('', { ...none, toolChoice, parallelToolCalls: true }), true);
      assert.deepEqual([encoded['tool_choice'], encoded['parallel_tool_calls']], [undefined, undefined]);
    }
  });

  test('the most tokens of an answer under the name that the model knows', () => {
    const nameFor = (model: string): string | undefined => {
      const encoded = encodeRequest({ ...chatRequest('Hi', { sampling: { maxTokens: 9 } }), model }, true);
      return Object.keys(encoded).find((name) => encoded[name] === 9);
    };
    for (const model of ['o1', 'o3-mini', 'o4-mini-2025-04-16', 'gpt-5', 'gpt-5.1', 'gpt-6-luna', 'openai/gpt-5-nano'])
      assert.equal(nameFor(model), 'max_completion_tokens', model);
    for (const model of ['gpt-4o', 'gpt-4.1-mini', 'gpt-oss-120b', 'openai/gpt-oss-20b', 'llama-3.3-70b', 'olmo-2'])
      assert.equal(nameFor(model), 'max_tokens', model);
  });

  test('unknown fields are kept, but displace nothing', () => {
    const encoded = encodeRequest(
      chatRequest('Hi', { extra: { logit_bias: { 5: 1 }, model: 'other', stream: false } }),
      true,
    );
    assert.deepEqual(encoded['logit_bias'], { 5: 1 });
    assert.equal(encoded['model'], 'test-model');
    assert.equal(encoded['stream'], true);
  });

  test('a dialogue with tools', () => {
    const call = { id: 'a', name: 'f', arguments: '{"x":' };
    assert.deepEqual(
      messagesOf(
        { role: 'system', content: [text('Be brief.')] },
        { role: 'user', content: [text('Hi')], name: 'ann' },
        { role: 'assistant', content: [], toolCalls: [call] },
        { role: 'tool', content: [text('5')], toolCallId: 'a' },
        { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }, text('Five.')] },
      ),
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi', name: 'ann' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: '5' },
        { role: 'assistant', content: 'Five.', reasoning_content: 'hm' },
      ],
    );
  });

  test('media of a result are in the user’s next words: a tool message holds text only', () => {
    const picture = (url: string): Part => ({ type: 'media', kind: 'image', url });
    const shown = (url: string): object => ({ type: 'image_url', image_url: { url } });
    const calls = ['a', 'b'].map((id) => ({ id, name: 'f', arguments: '{}' }));
    const dialogue: Message[] = [
      { role: 'assistant', content: [], toolCalls: calls },
      { role: 'tool', content: [text('one'), picture('https://p.example/1')], toolCallId: 'a' },
      { role: 'tool', content: [picture('https://p.example/2')], toolCallId: 'b' },
    ];
    const results = [
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'It is in the next message of the user.' },
    ];
    const parts = [
      { type: 'text', text: 'Of the result of a:' },
      shown('https://p.example/1'),
      { type: 'text', text: 'Of the result of b:' },
      shown('https://p.example/2'),
    ];
    const told = (...more: Message[]): unknown[] =>
      (
        encodeRequest(chatRequest([...dialogue, ...more], { format: 'anthropic' }), true)['messages'] as unknown[]
      ).slice(1);
    assert.deepEqual(told(), [...results, { role: 'user', content: parts }]);
    assert.deepEqual(told(user(text('Which?'))), [
      ...results,
      { role: 'user', content: [...parts, { type: 'text', text: 'Which?' }] },
    ]);
    assert.deepEqual(told({ role: 'assistant', content: [text('Hm.')] }, user(text('Which?'))), [
      ...results,
      { role: 'user', content: parts },
      { role: 'assistant', content: 'Hm.' },
      { role: 'user', content: 'Which?' },
    ]);
    assert.deepEqual(
      encodeRequest(
        chatRequest(
          [
            { role: 'assistant', content: [picture('https://p.example/3')] },
            { role: 'assistant', content: [text('There.'), picture('https://p.example/4')] },
          ],
          { format: 'gemini' },
        ),
        true,
      )['messages'],
      [
        { role: 'assistant', content: 'It is in the next message of the user.' },
        { role: 'user', content: [{ type: 'text', text: 'Of your answer:' }, shown('https://p.example/3')] },
        { role: 'assistant', content: 'There.' },
        { role: 'user', content: [{ type: 'text', text: 'Of your answer:' }, shown('https://p.example/4')] },
      ],
    );
    // Some upstreams take them in their place, and who writes this format asks for it.
    assert.deepEqual((messagesOf(...dialogue) as unknown[])[2], {
      role: 'tool',
      tool_call_id: 'b',
      content: [shown('https://p.example/2')],
    });
  });

  test('probabilities are told as dropped: chunks have no place for them', () => {
    const dropped: string[] = [];
    const encode = (extra: Record<string, unknown>): unknown[] =>
      Object.keys(encodeRequest(chatRequest('Hi', { extra }), true, (field) => dropped.push(field)));
    const asked = encode({ logprobs: true, top_logprobs: 2, logit_bias: {} });
    assert.deepEqual([asked[0], ...dropped], ['logit_bias', 'logprobs', 'top_logprobs']);
    encode({ logprobs: false, top_logprobs: null });
    assert.deepEqual(dropped, ['logprobs', 'top_logprobs']);
  });

  test('media in parts', () => {
    const wav = 'data:audio/x-wav;base64,UklGRg==';
    assert.deepEqual(
      messagesOf(
        user(
          text('What is this?'),
          { type: 'media', kind: 'image', url: 'https://pictures.example/a.png', detail: 'low' },
          { type: 'media', kind: 'audio', url: wav },
          { type: 'media', kind: 'audio', url: 'data:audio/mpeg;base64,SUQz' },
          { type: 'media', kind: 'video', url: 'https://films.example/a.mp4' },
          { type: 'media', kind: 'file', url: 'data:application/pdf;base64,JVBE', name: 'a.pdf' },
        ),
      ),
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'https://pictures.example/a.png', detail: 'low' } },
            { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
            { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } },
            { type: 'video_url', video_url: { url: 'https://films.example/a.mp4' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
          ],
        },
      ],
    );
  });

  test('sound by address is refused: the wire format has no place for it', () => {
    const part = { type: 'media', kind: 'audio', url: 'https://sounds.example/a.mp3' } as const;
    assert.throws(() => messagesOf(user(part)), { code: 'not_supported', status: 501 });
  });

  test('a file by address is refused, but where the service fetches it', () => {
    const asked = chatRequest([user({ type: 'media', kind: 'file', url: 'https://files.example/a.pdf' })]);
    assert.throws(() => encodeRequest(asked, true), { code: 'invalid_request', status: 400, message: /data: URI/ });
    assert.deepEqual(encodeRequest(asked, true, undefined, serviceAt('openrouter.ai'))['messages'], [
      {
        role: 'user',
        content: [{ type: 'file', file: { file_data: 'https://files.example/a.pdf', filename: 'document.pdf' } }],
      },
    ]);
  });

  test('several texts stay apart; no text is an empty one', () => {
    assert.deepEqual(messagesOf(user(text('a'), text('b')), user()), [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'user', content: '' },
    ]);
  });
});
