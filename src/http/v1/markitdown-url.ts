import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CallScope } from '../../core/call.ts';
import { claimOf, nameOfFetched } from '../../documents/file-types.ts';
import { type Fetched, readAll } from '../../outbound/guarded-fetch.ts';
import { ACCEPT_PAGES, isPage, type Page } from '../../outbound/pages.ts';
import { withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { recordingOf } from '../recording.ts';
import { hear } from './audio-transcriptions.ts';
import { textOf } from './markitdown.ts';

/** `GET /markitdown/<url>` */
export const MarkItDownPage = z.object({
  text: z.string().describe('Markdown, or the text as it is'),
  title: z.string().describe('Empty where there is none'),
  url: z.string().describe('Where it came from, after redirects'),
});

/** `GET /markitdown/<url>`: the main text of a page, a document as markdown, or what a recording says. */
export function markitdownUrl(deps: Deps): Handler {
  return async (request, reply) => {
    const address = addressIn(request);
    return withCall(request, reply, deps, {}, async (call) => {
      const fetched = await deps.fetch(address, {
        signal: call.signal,
        accept: `${ACCEPT_PAGES},*/*;q=0.5`,
        bytes: deps.config().limits.uploadFileBytes,
      });
      const { text, title, url } = await read(fetched, request, deps, call);
      reply.send({ text, title, url });
    });
  };
}

/** As it stands in the path, with a query of its own; or percent-encoded as a whole. */
function addressIn({ raw: { url = '' }, params }: FastifyRequest): string {
  const written = url.slice(url.indexOf('/', 1) + 1);
  if (/^https?:\//i.test(written)) return written;
  const { '*': decoded } = params as { '*': string };
  const query = written.indexOf('?');
  if (query === -1) return decoded;
  return `${decoded}${decoded.includes('?') ? '&' : '?'}${written.slice(query + 1)}`;
}

async function read(fetched: Fetched, request: FastifyRequest, deps: Deps, call: CallScope): Promise<Page> {
  const { url, mimeType } = fetched;
  const { signal } = call;
  const name = nameOfFetched(url.pathname, mimeType);
  const kind = claimOf(name)?.kind;
  // Some servers call all text plain, tables and notebooks too.
  if (isPage(mimeType) && (kind === 'html' || kind === 'text')) return deps.pages.textOf(fetched, { signal });
  const bytes = await readAll(fetched);
  const recording = recordingOf(bytes);
  if (recording !== undefined) return { url: url.href, title: '', text: await hear(request, deps, call, recording) };
  const { text, title = '' } = textOf(await deps.converter.convert({ name, bytes }, { signal }), 'url');
  return { url: url.href, title, text };
}
