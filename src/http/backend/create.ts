import type { ChatRequest } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { collect } from '../../core/collect.ts';
import { SluiceError, toSluiceError } from '../../core/errors.ts';
import { answerHeaders, openStream, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { clientKeys } from '../keys.ts';
import { validate } from '../validate.ts';
import { fencedBlock } from './markdown.ts';
import { CreateQuery } from './wire.ts';

const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** `GET create`: the answer to one prompt as plain text, as it comes. */
export function create(deps: Deps): Handler {
  return (request, reply) => {
    const query = validate(CreateQuery, request.query, 'invalid_request');
    const asked: ChatRequest = {
      model: query.model ?? '',
      providers: (query.provider ?? query.audio_provider ?? '').split(' ').filter((name) => name !== ''),
      ignored: [],
      messages: [{ role: 'user', content: [{ type: 'text', text: query.prompt }] }],
      sampling: {},
      downloadMedia: true,
      extra: {},
    };
    const filter = query.filter_markdown ?? query.json ?? '';
    return withCall(request, reply, deps, {}, async (call) => {
      const question = { wish: asked, keys: clientKeys(request, undefined), request: () => asked };
      const answered = await deps.router.answer(question, call);
      if (answered.value.kind !== 'chunks') throw new Error('the relay answered dialect A');
      const { chunks } = answered.value;
      const headers = answerHeaders(answered);
      if (isOn(filter)) {
        const { content } = await collect(chunks);
        const text = fencedBlock(content, /^(true|1)$/i.test(filter) ? undefined : filter.split(','));
        reply
          .headers({ ...headers, 'cache-control': 'no-store' })
          .header('content-type', PLAIN_TEXT)
          .send(text);
        return;
      }
      const stream = openStream(reply, PLAIN_TEXT, headers, deps);
      try {
        for await (const batch of chunks) if (!stream.write(plainText(batch))) await stream.drained();
        stream.end();
      } catch (error) {
        if (stream.closed) return;
        const { code, message } = toSluiceError(error);
        deps.log.warn({ id: call.id, code, error: deps.secrets.mask(message) }, 'a plain answer was cut');
        // Plain text has no place for an error: the missing end of the body is the only sign.
        stream.cut();
      }
    });
  };
}

function isOn(filter: string): boolean {
  return !/^(|false|0|no)$/i.test(filter);
}

function plainText(batch: Batch): string {
  return batch.map(textOf).join('');
}

function textOf(chunk: Chunk): string {
  switch (chunk.type) {
    case 'content':
      return chunk.content;
    case 'media':
      return chunk.media.url.startsWith('data:') ? '' : `${chunk.media.url}\n`;
    case 'finish':
      return chunk.finish === 'stop' ? '' : `[${chunk.finish}]`;
    case 'error':
    case 'auth':
      throw new SluiceError('internal', 'errors are thrown, not sent, before they reach plain text');
    default:
      return '';
  }
}
