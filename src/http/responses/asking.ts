import type { FastifyReply } from 'fastify';
import type { CallScope } from '../../core/call.ts';
import type { Chunk } from '../../core/chunk.ts';
import type { OpenedChunks } from '../../routing/chunks.ts';
import type { Performed, Question } from '../../routing/router.ts';
import { inOwnWords, ownWord } from './own-words.ts';
import type { Prepared } from './question.ts';
import { echoOf, type ResponseHead } from './response.ts';
import type { ResponseDeps } from './store.ts';
import { ENCRYPTED, type Json, type ResponseBody } from './wire.ts';

/** The router's answer, whose complaints about fields are in the client's words. */
export async function ask(question: Question, call: CallScope, deps: ResponseDeps): Promise<Performed<OpenedChunks>> {
  try {
    const answered = await deps.router.answer(question, call);
    const { value } = answered;
    if (value.kind !== 'chunks') throw new Error('the relay answered the Responses API');
    return { ...answered, value, dropped: answered.dropped.map(ownWord) };
  } catch (error) {
    throw inOwnWords(error);
  }
}

export function headOf(prepared: Prepared, body: ResponseBody, model: string, provider: string | null): ResponseHead {
  return {
    id: prepared.id,
    createdAt: now(),
    model,
    provider,
    isBackground: body.background === true,
    isEncrypted: body.include?.includes(ENCRYPTED) === true,
    echo: echoOf(body, prepared.store),
  };
}

/** Seconds since 1970. */
export function now(): number {
  return Math.floor(Date.now() / 1_000);
}

/** JSON that the types of the route do not describe to Fastify. */
export function sendJson(reply: FastifyReply, value: Json): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(value));
}

/** What closes an answer; the router sends it in one batch, the last. */
export function isLast(chunk: Chunk): boolean {
  return chunk.type === 'usage' || chunk.type === 'finish';
}
