import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startGatewayBefore } from './gateway-before.ts';

/** What clients of gpt4free send to chat completions, and what an upstream then gets. */
describe('messages as they are meant', { timeout: 60_000 }, () => {
  let upstream: OpenAiUpstream;
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;
  before(async () => {
    upstream = await startOpenAiUpstream(() => ({ text: ['Hello'] }));
    world = await startGatewayBefore(
      [upstream],
      `providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: k } }`,
    );
  });
  after(() => world.close());

  const HI = { role: 'user', content: 'Hi' };
  const ask = async (fields: object) => {
    const response = await fetch(`${world.gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/m', messages: [HI], ...fields }),
    });
    const answer = (await response.json()) as { error?: { message: string; param: string } };
    const { messages } = (upstream.chats.at(-1)?.body ?? {}) as { messages: { content: unknown }[] };
    return { status: response.status, error: answer.error, messages };
  };
  /** The part that comes of one attachment. */
  const partOf = async (url: string, name: string | null): Promise<unknown> => {
    const fields = name === null ? { image: url } : { media: [[url, name]] };
    const { status, messages } = await ask(fields);
    assert.equal(status, 200);
    const content = messages.at(-1)?.content as unknown[];
    assert.deepEqual(content.at(-1), { type: 'text', text: 'Hi' });
    return content[0];
  };

  test('attachments are pictures, sounds or videos by their type, their name or their address', async () => {
    const image = (url: string) => ({ type: 'image_url', image_url: { url } });
    const video = (url: string) => ({ type: 'video_url', video_url: { url } });
    const sound = (format: string) => ({ type: 'input_audio', input_audio: { data: 'AAAA', format } });
    for (const [url, name, part] of [
      ['data:image/png;base64,AAAA', 'a.png', image],
      ['data:image/png;base64,AAAA', 'a.mp3', image],
      ['data:image/png;base64,AAAA', null, image],
      ['https://x.example/cat', 'cat', image],
      ['https://x.example/cat.jpg?size=1', '', image],
      ['data:audio/wav;base64,AAAA', 'a.wav', sound('wav')],
      ['data:audio/x-wav;base64,AAAA', '', sound('wav')],
      ['data:audio/mpeg;base64,AAAA', 'talk', sound('mp3')],
      ['data:application/octet-stream;base64,AAAA', 'talk.flac', sound('flac')],
      ['data:video/mp4;base64,AAAA', 'a.mp4', video],
      ['https://x.example/a?b', 'a.WEBM', video],
      ['https://x.example/a.mov#t=1', '', video],
    ] as const) {
      const expected = typeof part === 'function' ? part(url) : part;
      assert.deepEqual(await partOf(url, name), expected, `${url} ${name}`);
    }
  });

  test('attachments of all three fields stand before the words of the last message, in this order', async () => {
    const url = (name: string): string => `https://x.example/${name}`;
    const { status, messages } = await ask({
      messages: [
        HI,
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: [{ type: 'text', text: 'See' }] },
      ],
      image: 'data:application/octet-stream;base64,AAAA',
      image_name: 'song.wav',
      images: [[url('c.png'), 'c.png']],
      media: [
        [url('a.png'), 'a.png'],
        [url('b.png'), 'b.png'],
      ],
    });
    assert.equal(status, 200);
    const pictures = ['a.png', 'b.png', 'c.png'].map((name) => ({ type: 'image_url', image_url: { url: url(name) } }));
    const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
    assert.deepEqual(
      messages.map(({ content }) => content),
      ['Hi', 'Yes?', [...pictures, sound, { type: 'text', text: 'See' }]],
    );
    for (const nothing of [{ image: null }, { images: null, media: [] }])
      assert.deepEqual((await ask(nothing)).messages, [HI]);
  });

  test('whatever else is attached is refused, with its place', async () => {
    for (const [media, words] of [
      [['data:text/plain;base64,aGk=', 'a.txt'], /must be a picture, a sound or a video/],
      [['data:application/pdf;base64,aGk=', 'a.png'], /must be a picture, a sound or a video/],
      [['https://x.example/a.mp3', 'a.mp3'], /data: URI in base64/],
      [['data:image/png;base64,@@@', 'x.png'], /must be valid base64/],
      [['data:image/png;base64,', 'x.png'], /must be valid base64/],
      [['data:audio/wav,raw', 'a.wav'], /data: URI in base64/],
      [['/media/a.png', 'a.png'], /data: URI or an http/],
    ] as const) {
      const { length } = upstream.chats;
      const { status, error } = await ask({ media: [media] });
      assert.equal(status, 422);
      assert.equal(error?.param, 'media[0]');
      assert.match(error?.message ?? '', words);
      assert.equal(upstream.chats.length, length);
    }
  });

  test('messages without parts are passed over, calls and results of tools are not', async () => {
    const empty = { role: 'user', content: [] };
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const called = { role: 'assistant', content: [], tool_calls: [call] };
    const result = { role: 'tool', tool_call_id: 'c', content: [] };
    const { messages } = await ask({ messages: [HI, empty, called, result, empty] });
    assert.deepEqual(messages, [HI, called, result]);
    const picture = 'data:image/png;base64,AAAA';
    assert.deepEqual((await ask({ messages: [empty], image: picture })).messages, [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] },
    ]);
    const silent = { role: 'user', content: '' };
    for (const messages of [[empty], [silent], [empty, silent], [{ role: 'user', content: null }]]) {
      const { status, error } = await ask({ messages });
      assert.deepEqual([status, error?.param], [422, 'messages'], JSON.stringify(messages));
    }
    // Beside something that is said, an empty text goes on as it is.
    assert.deepEqual((await ask({ messages: [HI, silent] })).messages, [HI, silent]);
  });
});
