import type { FastifyRequest } from 'fastify';
import type { BucketEvent } from '../../buckets/activity.ts';
import type { Upload } from '../../buckets/intake.ts';
import { SluiceError, toSluiceError } from '../../core/errors.ts';
import { withoutSecrets } from '../../core/secrets.ts';
import type { BucketRecord } from '../../core/stores.ts';
import { accepts } from '../accepts.ts';
import { openStream } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { parseId } from '../edge/body.ts';
import { type FormPart, formParts } from '../edge/form.ts';
import { leaving } from '../leaving.ts';
import { isOwner } from './chats.ts';

/** `POST files/<bucket_id>`: takes documents and media in. */
export function postFiles(deps: Deps): Handler {
  return async (request, reply) => {
    const id = bucketId(request);
    const { limits } = deps.config();
    const gone = leaving(reply);
    const { deadlines } = deps;
    // In no turns: what comes goes to the disk, and is not held in memory.
    let hasFiles = false;
    async function* uploads(givenUp: AbortSignal): AsyncIterable<Upload> {
      const reader = { deadlines, givenUp };
      for await (const part of formParts(request.raw, { ...limits, fieldBytes: limits.bodyBytes }, reader)) {
        if (part.name === 'files' && part.filename !== undefined) {
          hasFiles = true;
          yield { filename: part.filename, mimeType: part.mimeType, body: part.body };
        } else await pass(part);
      }
      if (!hasFiles) throw new SluiceError('invalid_request', "The form has no part 'files'.", { param: 'files' });
    }
    return { bucket_id: id, ...(await deps.buckets.add(id, uploads, gone)) };
  };
}

/** `GET files/<bucket_id>`: the text of everything in it; or, as an event stream, what happens to it. */
export function getFiles(deps: Deps): Handler {
  return async (request, reply) => {
    const id = bucketId(request);
    const { delete_files: asked } = request.query as Record<string, unknown>;
    // HEAD delivers nothing and changes nothing (RFC 9110 §9.2.1).
    const deleteAfter = request.method === 'GET' && typeof asked === 'string' && /^(true|1)$/i.test(asked);
    // Of the route, since a bucket may be called `stream`.
    const isEvents = request.routeOptions.url?.endsWith('/stream') === true || accepts(request, 'text/event-stream');
    const record = await deps.buckets.get(id);
    const gone = leaving(reply);
    const stream = openStream(reply, `${isEvents ? 'text/event-stream' : 'text/plain'}; charset=utf-8`, {}, deps);
    const send = async (text: string): Promise<void> => {
      if (!stream.write(text)) await stream.drained();
      if (stream.closed) throw new SluiceError('cancelled', 'The reader left before the end.');
    };
    /** Only what was read to its end, and only if all of it was: whatever came meanwhile stays. */
    const deleteRead = async (read: BucketRecord): Promise<void> => {
      if (!deleteAfter || stream.closed) return;
      await deps.buckets.deleteFiles(read);
      if (isEvents) await send('data: {"action":"delete_files"}\n\n');
    };
    try {
      if (isEvents) {
        const tell = (event: BucketEvent): Promise<void> => send(`data: ${JSON.stringify(event)}\n\n`);
        for await (const event of deps.buckets.watch(id, gone)) await tell(event);
        const whole = await deps.buckets.get(id);
        for await (const event of deps.buckets.events(whole)) {
          // What the reader asked for is part of what happened, so it comes before the end.
          if (event.action === 'done') await deleteRead(whole);
          await tell(event);
        }
      } else {
        for await (const text of deps.buckets.text(record)) await send(text);
        await deleteRead(record);
      }
      stream.end();
    } catch (thrown) {
      if (stream.closed) {
        deps.log.debug({ id: request.id, bucket: id }, 'the reader of a bucket left before its end');
        return reply;
      }
      const error = withoutSecrets(toSluiceError(thrown), deps.secrets);
      deps.log.warn({ id: request.id, error: error.message }, 'reading a bucket failed');
      if (!isEvents) stream.cut();
      else {
        // Cut at once it would take these words along.
        stream.write(`data: ${JSON.stringify({ error: { message: error.message } })}\n\n`);
        stream.end();
      }
    }
    return reply;
  };
}

/** `DELETE files/<bucket_id>`: the bucket, and a shared chat of the same id, which is how front ends take a share back. */
export function deleteFiles(deps: Deps): Handler {
  return async (request) => {
    const id = bucketId(request);
    const hadChat = await deps.stores.chats.delete(id, ({ owner }) => {
      if (isOwner(request, deps, owner)) return true;
      throw new SluiceError('forbidden', 'Only the owner of a shared chat can delete it.');
    });
    const hadBucket = await deps.buckets.delete(id);
    if (!hadChat && !hadBucket) {
      throw new SluiceError(
        'not_found',
        'Bucket directory not found: there is no bucket and no shared chat of this id.',
      );
    }
    return { message: 'Bucket deleted successfully' };
  };
}

function bucketId(request: FastifyRequest): string {
  return parseId((request.params as { id: string }).id, 'bucket_id');
}

async function pass(part: FormPart): Promise<void> {
  for await (const _ of part.body);
}
