import type { FastifyReply } from 'fastify';
import type { Call } from '../../core/call.ts';
import type { ChatRequest } from '../../core/chat.ts';
import type { Batch, Chunk, MediaRef } from '../../core/chunk.ts';
import { collect, within } from '../../core/collect.ts';
import { isDataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import { fencedBlock } from '../../core/fenced-block.ts';
import { resultBlocks } from '../../enrich/web-search.ts';
import { answerHeaders, openStream, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { clientKeys } from '../keys.ts';
import { lateFailure } from '../late-failure.ts';
import { leaving } from '../leaving.ts';
import type { EventStream } from '../sse.ts';
import { toWebSearch } from '../to-chat.ts';
import { validate } from '../validate.ts';
import { wishOf } from '../wish.ts';
import { type Created, cached, cacheId, keep } from './create-cache.ts';
import { CreateQuery, PROVIDERS_PATH } from './wire.ts';

/** The path of a stored file: `..` in what a model wrote would lead elsewhere. */
const STORED = /^\/media\/[A-Za-z0-9][A-Za-z0-9_.,+=@%-]*$/;
const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** The name under which front ends ask for bare results of a web search, instead of an answer. */
const SEARCH_PROVIDER = 'cachedsearch';

/** `GET create`: the answer to one prompt as plain text, as it comes; a picture as the way to it. */
export function create(deps: Deps): Handler {
  return (request, reply) => {
    const query = validate(CreateQuery, request.query, 'invalid_request');
    const asked = toChatRequest(query);
    if (asked.providers.some((name) => name.toLowerCase() === SEARCH_PROVIDER))
      return searched(query.prompt, reply, deps);
    const keys = clientKeys(request, undefined);
    const filter = query.filter_markdown || query.json || '';
    const cache = isOn(query.cache) ? cacheId(query, keys) : undefined;
    return withCall(request, reply, deps, {}, async (call) => {
      const known = cache === undefined ? undefined : await cached(cache, deps.stores, deps.log);
      if (known !== undefined) return sendCreated(reply, known, {});
      const answered = await deps.router.answer(
        { wish: { ...asked, listing: PROVIDERS_PATH }, keys, request: () => asked },
        call,
      );
      if (answered.value.kind !== 'chunks') throw new Error('the relay answered dialect A');
      const headers = answerHeaders(answered);
      const { answerBytes } = deps.config().limits;
      const { first, chunks } = await opened(answered.value.chunks);
      if (first === 'media' || isOn(filter) || cache !== undefined) {
        const whole = within(chunks, answerBytes);
        const created = first === 'text' && isOn(filter) ? await filtered(whole, filter) : await gathered(whole);
        if (cache !== undefined) await keep(deps.stores.caches, cache, created, deps.log);
        return sendCreated(reply, created, headers);
      }
      const stream = openStream(reply, PLAIN_TEXT, { ...headers, 'cache-control': 'no-store' }, deps);
      return sendText(stream, chunks, call, deps);
    });
  };
}

/** The answer as it comes. */
async function sendText(stream: EventStream, chunks: AsyncIterable<Batch>, call: Call, deps: Deps): Promise<void> {
  const write = plainWriter();
  try {
    for await (const batch of chunks) if (!stream.write(batch.map(write).join(''))) await stream.drained();
    stream.end();
  } catch (error) {
    if (stream.closed) return;
    lateFailure(error, call, deps);
    // Plain text has no place for an error: the missing end of the body is the only sign.
    stream.cut();
  }
}

function toChatRequest(query: CreateQuery): ChatRequest {
  return {
    ...wishOf({ model: query.model, provider: query.provider || query.audio_provider }),
    messages: [{ role: 'user', content: [{ type: 'text', text: query.prompt }] }],
    sampling: {},
    ...toWebSearch(query.web_search),
    downloadMedia: true,
    extra: isOn(query.audio) ? { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } } : {},
  };
}

/** A whole answer with its length. A redirect leads to our own stored file, never to an address that a model wrote. */
function sendCreated(reply: FastifyReply, created: Created, headers: Readonly<Record<string, string>>): void {
  reply.headers({ ...headers, 'cache-control': 'no-store' });
  if ('location' in created) reply.redirect(created.location, 302);
  else reply.header('content-type', PLAIN_TEXT).send(created.text);
}

/** Looks for what an answer begins with; the same chunks, from the start, are still to be read. */
async function opened(
  chunks: AsyncIterable<Batch>,
): Promise<{ readonly first: 'text' | 'media'; readonly chunks: AsyncIterable<Batch> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const seen: Batch[] = [];
  let first: 'text' | 'media' | undefined;
  while (first === undefined) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    seen.push(value);
    first = value.map(beginning).find((kind) => kind !== undefined);
  }
  return { first: first ?? 'text', chunks: resumed(seen, iterator) };
}

async function* resumed(seen: readonly Batch[], iterator: AsyncIterator<Batch>): AsyncGenerator<Batch> {
  try {
    yield* seen;
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) yield step.value;
  } finally {
    await iterator.return?.();
  }
}

function beginning(chunk: Chunk): 'text' | 'media' | undefined {
  if (chunk.type === 'media') return 'media';
  const isSaid = chunk.type === 'content' || chunk.type === 'refusal';
  return isSaid && textOf(chunk) !== '' ? 'text' : undefined;
}

/** The first block of code in one of the languages of a list, or in any (`true`). */
async function filtered(chunks: AsyncIterable<Batch>, filter: string): Promise<Created> {
  const { content, refusal } = await collect(chunks);
  return { text: fencedBlock(content + refusal, /^(true|1)$/i.test(filter) ? undefined : filter.split(',')) };
}

/** One stored file and nothing said is the way to it; anything else is text. */
async function gathered(chunks: AsyncIterable<Batch>): Promise<Created> {
  let text = '';
  const urls: string[] = [];
  // An inline picture that could not be stored is all there is, so it is given as it is.
  const write = plainWriter(({ url }) => url);
  for await (const batch of chunks) {
    for (const chunk of batch) {
      text += write(chunk);
      if (chunk.type === 'media') urls.push(chunk.media.url);
    }
  }
  const [only] = urls;
  const isAlone = urls.length === 1 && text.trim() === only;
  return isAlone && only !== undefined && STORED.test(only) ? { location: only } : { text };
}

async function searched(query: string, reply: FastifyReply, deps: Deps): Promise<FastifyReply> {
  const results = await deps.search.search(query, { signal: leaving(reply) });
  return reply
    .header('content-type', PLAIN_TEXT)
    .header('cache-control', 'no-store')
    .send(resultBlocks(results).join('\n\n'));
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !/^(|false|0|no)$/i.test(value);
}

/** Writes an answer as plain text, in which the address of a file has a line of its own. */
function plainWriter(addressOf: (media: MediaRef) => string = shortAddress): (chunk: Chunk) => string {
  let last = '\n';
  return (chunk) => {
    const address = chunk.type === 'media' ? addressOf(chunk.media) : '';
    const text = address === '' ? textOf(chunk) : `${last === '\n' ? '' : '\n'}${address}\n`;
    last = text.at(-1) ?? last;
    return text;
  };
}

/** Inline media would be an endless text. */
function shortAddress({ url }: MediaRef): string {
  return isDataUri(url) ? '' : url;
}

function textOf(chunk: Chunk): string {
  switch (chunk.type) {
    case 'content':
      return chunk.content;
    case 'refusal':
      return chunk.refusal;
    case 'finish':
      return chunk.finish === 'stop' ? '' : `[${chunk.finish}]`;
    case 'error':
    case 'auth':
      throw new SluiceError('internal', 'errors are thrown, not sent, before they reach plain text');
    default:
      return '';
  }
}
