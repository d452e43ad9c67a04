import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../../core/errors.ts';
import { estimatePromptTokens } from '../../core/token-estimate.ts';
import type { JsonBody } from '../edge/body.ts';
import { validate } from '../validate.ts';
import { toChatRequest } from './decode.ts';
import { CountTokensBody, type GenerateContentBody } from './wire.ts';

/** `:countTokens`: an estimate, since no upstream is asked. */
export function countTokens(request: FastifyRequest, reply: FastifyReply, model: string): FastifyReply {
  const body = validate(CountTokensBody, (request.body as JsonBody).value, 'invalid_request');
  const { generateContentRequest, contents, ...fields } = body;
  const asked = generateContentRequest ?? (contents == null ? undefined : { ...fields, contents });
  if (asked === undefined) {
    throw new SluiceError('invalid_request', "'contents' is required.", { param: 'contents' });
  }
  const wish = { model, providers: [], ignored: [] };
  const { request: decoded } = toChatRequest(asked as GenerateContentBody, wish, false);
  const totalTokens = estimatePromptTokens(decoded);
  return reply.send({ totalTokens, promptTokensDetails: [{ modality: 'TEXT', tokenCount: totalTokens }] });
}
