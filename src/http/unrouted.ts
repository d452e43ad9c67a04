import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { ErrorBody } from './deps.ts';
import { errorBody } from './edge/errors.ts';
import { isAnthropicClient, isGoogleClient, isOfGoogle } from './edge/guard.ts';
import type { NoRoute } from './edge/no-route.ts';
import { errorBody as geminiErrorBody } from './gemini/errors.ts';
import { messagesErrorBody } from './messages/errors.ts';
import { errorBody as ollamaErrorBody } from './ollama/errors.ts';

/** Paths of theirs that nobody serves here: Anthropic's batches, Ollama's blobs. */
const ANTHROPIC_PATH = /^(\/api\/[^/]+)?(\/v1)?\/messages(\/|\?|$)/;
const OLLAMA_PATH = /^\/api\/blobs\//;

/** The form of an error where no route fits: that of the path that was meant, else of whoever has such paths or sends such headers. */
export function unroutedErrorBody({ nearest }: NoRoute): ErrorBody {
  const bodyFor = (request: FastifyRequest): ErrorBody => {
    if (isOfGoogle(request.raw)) return geminiErrorBody;
    const row = nearest(request);
    return row === undefined ? bodyNowhere(request.raw) : (row.errorBody ?? errorBody);
  };
  return (error, request) => bodyFor(request)(error, request);
}

function bodyNowhere({ headers, url = '' }: IncomingMessage): ErrorBody {
  if (isAnthropicClient(headers) || ANTHROPIC_PATH.test(url)) return messagesErrorBody;
  if (isGoogleClient(headers)) return geminiErrorBody;
  return OLLAMA_PATH.test(url) ? ollamaErrorBody : errorBody;
}
