import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import type { ListeningScript } from '../support/listening-upstream.ts';

import { WAV, wav, world } from './audio-world.ts';

const eventsIn = (text: string): object[] =>
  text
    .trim()
    .split('\n\n')
    .map((event) => JSON.parse(event.slice('data: '.length)) as object);

describe('what upstreams do', () => {
  const json = (status: number, body: string): ListeningScript => {
    return (_form, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      return true;
    };
  };
  for (const [name, script, status, code] of [
    ['no such path', json(404, '{"detail":"Not Found"}'), 501, 'not_supported'],
    [
      'a model it does not know',
      json(404, '{"error":{"message":"The model `x` does not exist"}}'),
      404,
      'model_not_found',
    ],
    ['too large a file', json(413, '{"error":{"message":"Maximum content size limit exceeded"}}'), 413, 'too_large'],
    ['a form it does not like', json(400, '{"error":{"message":"Invalid file format."}}'), 400, 'invalid_request'],
    ['HTML', json(200, '<html>'), 502, 'upstream_invalid'],
    ['no text', json(200, '{"segments":[]}'), 502, 'upstream_invalid'],
    ['nothing at all', json(200, ''), 502, 'upstream_invalid'],
  ] as const) {
    test(`${name}: ${status}`, async () => {
      const here = await world(script, 'limits: { attempts: 1 }');
      try {
        const answer = await here.post({ file: wav(), model: 'whisper-test' });
        const { error } = JSON.parse(answer.text) as { error: { code: string; message: string } };
        assert.deepEqual({ status: answer.status, code: error.code }, { status, code }, error.message);
      } finally {
        await here.close();
      }
    });
  }

  test('text alone, from a small server', async () => {
    const here = await world((_form, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('Good day.\n');
      return true;
    });
    try {
      const { text } = await here.post({ file: wav(), model: 'whisper-test' });
      assert.equal((JSON.parse(text) as { text: string }).text, 'Good day.');
      const subtitles = await here.post({ file: wav(), model: 'whisper-test', response_format: 'vtt' });
      assert.equal(subtitles.status, 501);
    } finally {
      await here.close();
    }
  });

  test('empty text: nobody spoke', async () => {
    const here = await world((_form, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end();
      return true;
    });
    try {
      const { status, text } = await here.post({ file: wav(), model: 'whisper-test' });
      assert.deepEqual({ status, text: (JSON.parse(text) as { text: string }).text }, { status: 200, text: '' });
    } finally {
      await here.close();
    }
  });

  test('a duration is a number, also as text; whatever else it is counts as left out', async () => {
    let duration = '';
    const here = await world((form, response, request) =>
      json(200, `{"text":"Good day.","segments":[],"duration":${duration}}`)(form, response, request),
    );
    try {
      for (const [written, told] of [
        ['1.5', 1.5],
        ['"1.5"', 1.5],
        ['{"toString":1}', undefined],
        ['[{"toString":1}]', undefined],
        ['null', undefined],
      ] as const) {
        duration = written;
        const { text } = await here.post({ file: wav(), model: 'whisper-test', response_format: 'verbose_json' });
        const answer = JSON.parse(text) as { text?: string; duration?: number };
        assert.deepEqual([answer.text, answer.duration], ['Good day.', told], text);
      }
    } finally {
      await here.close();
    }
  });

  test('words and no segments: subtitles are made of these', async () => {
    const words = [
      { word: 'Good', start: 0, end: 0.5 },
      { word: 'day.', start: 0.5, end: 1.5 },
    ];
    const here = await world(json(200, JSON.stringify({ text: 'Good day.', words })));
    try {
      const { text } = await here.post({ file: wav(), model: 'whisper-test', response_format: 'srt' });
      assert.equal(text, '1\n00:00:00,000 --> 00:00:01,500\nGood day.\n\n');
    } finally {
      await here.close();
    }
  });

  test('vLLM streams in the form of chat completions', async () => {
    const here = await world((_form, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const content of ['Good', ' day.']) {
        const chunk = { object: 'transcription.chunk', choices: [{ delta: { content }, index: 0 }] };
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      }
      response.end('data: [DONE]\n\n');
      return true;
    });
    try {
      const { text } = await here.post({ file: wav(), model: 'whisper-test', stream: 'true' });
      assert.deepEqual(eventsIn(text), [
        { type: 'transcript.text.delta', delta: 'Good' },
        { type: 'transcript.text.delta', delta: ' day.' },
        { type: 'transcript.text.done', text: 'Good day.' },
      ]);
    } finally {
      await here.close();
    }
  });

  test('an end behind which there is one more is told once', async () => {
    const said = [
      { type: 'transcript.text.delta', delta: 'Good day.' },
      { type: 'transcript.text.done', text: 'Good day.', usage: { type: 'duration', seconds: 2 } },
    ];
    const sent = [...said.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`);
    const here = await world((_form, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sent.join(''));
      return true;
    });
    try {
      const { text } = await here.post({ file: wav(), model: 'whisper-test', stream: 'true' });
      assert.deepEqual(eventsIn(text), said);
    } finally {
      await here.close();
    }
  });

  test('a stream that breaks off says so in its last event', async () => {
    const here = await world((_form, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ type: 'transcript.text.delta', delta: 'Good' })}\n\n`);
      return true;
    });
    try {
      const { status, text } = await here.post({ file: wav(), model: 'whisper-test', stream: 'true' });
      assert.equal(status, 200);
      assert.match(text, /upstream_cut/);
    } finally {
      await here.close();
    }
  });

  test('an error as the first event is a status', async () => {
    const here = await world((_form, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"error":{"message":"slow down","code":429}}\n\n');
      return true;
    }, 'limits: { attempts: 1 }');
    try {
      const { status, text } = await here.post({ file: wav(), model: 'whisper-test', stream: 'true' });
      assert.equal(status, 429, text);
    } finally {
      await here.close();
    }
  });

  test('a client that leaves ends the request upstream', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const here = await world(() => {
      resolve();
      return true;
    });
    try {
      const controller = new AbortController();
      const file = await toFile(WAV, 'a.wav');
      const answer = here.client.audio.transcriptions.create(
        { model: 'whisper-test', file },
        { signal: controller.signal },
      );
      await asked;
      controller.abort();
      await assert.rejects(answer, OpenAI.APIUserAbortError);
      const [request] = here.upstream.requests.filter(({ path }) => path.startsWith('/v1/audio'));
      assert.equal(await request?.closed, 'aborted');
    } finally {
      await here.close();
    }
  });
});
