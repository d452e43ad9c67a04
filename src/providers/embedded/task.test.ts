import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChatRequest, Message } from '../../core/chat.ts';
import { SluiceError } from '../../core/errors.ts';
import { type SamplingDefaults, toTask } from './task.ts';

describe('a request as a task', () => {
  const defaults: SamplingDefaults = { temperature: 0.3, topP: 0.9, topK: 40, repeatPenalty: 1.1 };
  const request = (messages: readonly Message[], changes: Partial<ChatRequest> = {}): ChatRequest => ({
    model: 'm',
    providers: [],
    ignored: [],
    messages,
    sampling: {},
    downloadMedia: false,
    extra: {},
    ...changes,
  });
  const text = (...texts: string[]) => texts.map((one) => ({ type: 'text' as const, text: one }));
  const hello: Message = { role: 'user', content: text('Hello') };

  test('has its messages as turns', () => {
    const { turns } = toTask(
      request([
        { role: 'developer', content: text('Be brief.') },
        { role: 'user', content: text('one', 'two') },
        { role: 'assistant', content: [{ type: 'reasoning', text: 'not shown again' }, ...text('three')] },
      ]),
      defaults,
    );
    assert.deepEqual(turns, [
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'one\ntwo' },
      { role: 'assistant', parts: ['three'] },
    ]);
  });

  test('has calls and their results in one turn with the answer that follows', () => {
    const call = (id: string, name: string, json: string) => ({ id, name, arguments: json });
    const { turns } = toTask(
      request([
        hello,
        {
          role: 'assistant',
          content: text('Let me see.'),
          toolCalls: [call('1', 'a', '{"x":1}'), call('2', 'b', '{"x"')],
        },
        { role: 'tool', toolCallId: '2', content: text('second') },
        { role: 'tool', toolCallId: '1', content: text('first') },
        { role: 'tool', toolCallId: 'unknown', content: text('third') },
        { role: 'assistant', content: text('So it is.') },
      ]),
      defaults,
    );
    assert.deepEqual(turns[1], {
      role: 'assistant',
      parts: [
        'Let me see.',
        { name: 'b', arguments: '{"x"', result: 'second' },
        { name: 'a', arguments: { x: 1 }, result: 'first' },
        { name: 'tool', arguments: {}, result: 'third' },
        'So it is.',
      ],
    });
  });

  test('samples as asked, and by the defaults otherwise', () => {
    assert.deepEqual(toTask(request([hello]), defaults).sampling, {
      ...defaults,
      presencePenalty: 0,
      frequencyPenalty: 0,
      stop: [],
    });
    const sampling = { temperature: 0, topP: 0.5, topK: 1, maxTokens: 9, stop: ['x'], seed: 7, presencePenalty: 1 };
    assert.deepEqual(toTask(request([hello], { sampling }), defaults).sampling, {
      ...sampling,
      repeatPenalty: 1.1,
      frequencyPenalty: 0,
    });
  });

  test('does not punish JSON for its quotes', () => {
    const task = toTask(request([hello], { responseFormat: { type: 'json_object' } }), defaults);
    assert.deepEqual(task.format, {});
    assert.equal(task.sampling.repeatPenalty, 1);
    assert.equal(toTask(request([hello], { responseFormat: { type: 'text' } }), defaults).format, undefined);
  });

  test('thinks unless told not to', () => {
    assert.equal(toTask(request([hello]), defaults).thinking, true);
    assert.equal(toTask(request([hello], { sampling: { reasoningEffort: 'none' } }), defaults).thinking, false);
  });

  test('names what it cannot read, and where', () => {
    const parts = [
      [{ type: 'media', kind: 'audio', url: 'data:audio/wav;base64,' }, 'an audio'],
      [{ type: 'media', kind: 'file', url: 'data:text/plain;base64,' }, 'a file'],
      [{ type: 'bucket', bucketId: 'b' }, 'a bucket'],
    ] as const;
    for (const [part, name] of parts) {
      const asked = request([hello, { role: 'user', content: [...text('see'), part] }]);
      assert.throws(
        () => toTask(asked, defaults),
        (error) =>
          error instanceof SluiceError &&
          error.code === 'not_supported' &&
          error.message.includes(name) &&
          error.options.param === 'messages[1].content[1]',
      );
    }
  });

  test('needs a message', () => {
    assert.throws(() => toTask(request([]), defaults), { code: 'invalid_request' });
  });
});
