import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { WireChunk } from '../api/chunks.ts';
import { isOver, type Message, textOf } from './model.ts';
import { resumedAt, takeChunks } from './take.ts';

const empty: Message = {
  id: 'a',
  chat: 'c',
  parent: 'q',
  role: 'assistant',
  parts: [],
  createdAt: 0,
  timing: { asked: 1_000 },
};

function take(...chunks: readonly WireChunk[]): Message {
  return chunks.reduce((message, chunk, index) => takeChunks(message, [chunk], 2_000 + index * 1_000), empty);
}

describe('chunks of an answer', () => {
  test('make the same message one by one and all at once', () => {
    const chunks: readonly WireChunk[] = [
      { type: 'provider', provider: { name: 'p', label: 'P', model: 'm' } },
      { type: 'reasoning', token: 'Hm.' },
      { type: 'content', content: 'a' },
      { type: 'content', content: 'b' },
      { type: 'finish', finish: { reason: 'stop' } },
    ];
    const oneByOne = chunks.reduce((message, chunk) => takeChunks(message, [chunk], 5_000), empty);
    assert.deepEqual(takeChunks(empty, chunks, 5_000), oneByOne);
    assert.equal(textOf(oneByOne), 'ab');
    assert.deepEqual([oneByOne.provider, oneByOne.label, oneByOne.model], ['p', 'P', 'm']);
  });

  test('keep what is said in a sound beside it, and know sounds by their markup', () => {
    const [media, words] = take({
      type: 'content',
      content: '<audio src="/media/a.mp3" controls></audio>\n\nGood morning.',
      urls: '/media/a.mp3',
    }).parts;
    assert.deepEqual(media, { type: 'media', kind: 'audio', url: '/media/a.mp3' });
    assert.deepEqual(words, { type: 'text', text: 'Good morning.' });
    const inline = take({
      type: 'content',
      content: 'Hi.',
      urls: 'data:audio/wav;base64,',
      data: 'data:audio/wav;base64,',
    });
    assert.equal(textOf(inline), 'Hi.');
    const film = take({
      type: 'content',
      content: '<video src="/media/a.mp4" controls></video>',
      urls: ['/media/a.mp4'],
    });
    assert.deepEqual(film.parts, [{ type: 'media', kind: 'video', url: '/media/a.mp4' }]);
  });

  test('of an answer that is gone on with count no pause, and the tokens of both', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const end: readonly WireChunk[] = [
      { type: 'content', content: 'a' },
      { type: 'usage', usage },
      { type: 'finish', finish: { reason: 'length' } },
    ];
    const { finish: _, ...cut } = takeChunks(empty, end, 3_000);
    assert.deepEqual(cut.timing, { asked: 1_000, first: 3_000, ended: 3_000 });
    const timing = resumedAt(cut.timing ?? { asked: 0 }, 60_000);
    assert.deepEqual(timing, { asked: 58_000, first: 60_000 });
    const usageBefore = cut.usage ?? { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
    const whole = takeChunks({ ...cut, timing, usageBefore }, end, 62_000);
    assert.deepEqual(whole.timing, { asked: 58_000, first: 60_000, ended: 62_000 });
    assert.deepEqual(whole.usage, { promptTokens: 20, completionTokens: 10, totalTokens: 30 });
  });

  test('time the thinking from its first piece to the first word', () => {
    const message = take(
      { type: 'reasoning', token: 'Hm, ', status: 'thinking' },
      { type: 'reasoning', token: 'yes.' },
      { type: 'reasoning', token: '', status: '' },
      { type: 'content', content: 'So.' },
      { type: 'finish', finish: { reason: 'stop' } },
    );
    assert.equal(message.reasoning, 'Hm, yes.');
    assert.deepEqual(message.timing, {
      asked: 1_000,
      first: 2_000,
      reasoningFrom: 2_000,
      reasoning: 2_000,
      ended: 6_000,
    });
  });

  test('take no less than no time where the clock is set back meanwhile', () => {
    const set = takeChunks(empty, [{ type: 'content', content: 'a' }], 500);
    const {
      asked = 0,
      first,
      ended,
    } = takeChunks(set, [{ type: 'finish', finish: { reason: 'stop' } }], 400).timing ?? {};
    assert.deepEqual([first, ended], [asked, asked]);
  });

  test('put media between the texts, with their size', () => {
    const message = take(
      { type: 'preview', preview: 'soon' },
      { type: 'content', content: 'before' },
      { type: 'content', content: '<a data-width="40" data-height="30">', urls: '/media/x.png', alt: 'A gate' },
      { type: 'content', content: '<audio>', urls: '/media/x.mp3', data: '/media/x.mp3' },
      { type: 'content', content: '<video src="/media/x.mp4">', urls: ['/media/x.mp4'] },
      { type: 'content', content: 'after' },
    );
    assert.deepEqual(message.parts, [
      { type: 'text', text: 'before' },
      { type: 'media', kind: 'image', url: '/media/x.png', alt: 'A gate', width: 40, height: 30 },
      { type: 'media', kind: 'audio', url: '/media/x.mp3' },
      { type: 'media', kind: 'video', url: '/media/x.mp4' },
      { type: 'text', text: 'after' },
    ]);
    assert.equal(message.preview, undefined);
  });

  test('put tool calls together, each from its own pieces', () => {
    const piece = (index: number, id: string | undefined, name: string | undefined, text: string): WireChunk => ({
      type: 'tool_calls',
      tool_calls: [
        {
          index,
          ...(id === undefined ? {} : { id }),
          function: { arguments: text, ...(name === undefined ? {} : { name }) },
        },
      ],
    });
    const message = take(
      piece(0, 'x', 'weather', '{"city"'),
      piece(1, 'y', 'time', '{}'),
      piece(0, undefined, undefined, ':"Paris"}'),
      { type: 'tool_result', tool_result: { id: 'x', content: 'rain' } },
    );
    assert.deepEqual(
      message.toolCalls?.map(({ name, arguments: text, result }) => [name, text, result]),
      [
        ['weather', '{"city":"Paris"}', 'rain'],
        ['time', '{}', undefined],
      ],
    );
  });

  test('end with a finish or a failure, whose class name is for programs', () => {
    assert.equal(isOver(take({ type: 'content', content: 'a' })), false);
    assert.equal(isOver(take({ type: 'finish', finish: { reason: 'length' } })), true);
    const failed = take({ type: 'auth', auth: 'MissingAuthError', message: 'MissingAuthError: No key', code: 'x' });
    assert.deepEqual(failed.error, { message: 'No key', code: 'x', needsKey: true });
    assert.equal(isOver(failed), true);
  });

  test('of kinds that nobody knows yet pass by', () => {
    assert.deepEqual(takeChunks(empty, [{ type: 'hologram', hologram: 1 } as unknown as WireChunk], 1), empty);
  });
});
