import type { ServerResponse } from 'node:http';
import { type OpenAiUpstream, startOpenAiUpstream } from './openai-upstream.ts';
import type { SeenRequest } from './seen-request.ts';

/** How an upstream of embeddings behaves. */
export interface EmbeddingScript {
  /** The vector of a text or of tokens. */
  readonly vector?: (input: unknown) => readonly number[];
  /** What it writes whatever it is asked for; absent: what was asked. */
  readonly writes?: 'float' | 'base64';
  /** It knows no `encoding_format`, and says so. */
  readonly refusesBase64?: boolean;
  /** Answers instead; false leaves the request to the usual ways. */
  readonly handle?: (request: SeenRequest, response: ServerResponse) => boolean | Promise<boolean>;
}

interface Body {
  readonly model: string;
  readonly input: unknown;
  readonly encoding_format?: string;
}

/** Three numbers that tell inputs apart. */
const byLength = (input: unknown): readonly number[] => [String(input).length, 0.5, -1];

/** An upstream with the `/embeddings` of OpenAI, which lists a model for them and one for chats. */
export function startEmbeddingUpstream(script: EmbeddingScript = {}): Promise<OpenAiUpstream> {
  return startOpenAiUpstream(undefined, {
    models: ['test-model', 'text-embedding-test'],
    async handle(request, response) {
      if ((await script.handle?.(request, response)) === true) return true;
      if (request.path !== '/v1/embeddings') return false;
      const body = request.body as Body;
      if (body.encoding_format === 'base64' && script.refusesBase64 === true) {
        const error = { message: "Unsupported value for 'encoding_format'.", type: 'invalid_request_error' };
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
        return true;
      }
      const isSingle = !Array.isArray(body.input) || typeof body.input[0] === 'number';
      const inputs: readonly unknown[] = isSingle ? [body.input] : (body.input as unknown[]);
      const encoding = script.writes ?? body.encoding_format ?? 'float';
      response.writeHead(200, { 'content-type': 'application/json', 'x-ratelimit-remaining-tokens': '99' });
      response.end(answer(inputs, encoding, body.model, script.vector ?? byLength));
      return true;
    },
  });
}

/** As OpenAI writes it: indented, the members of each entry in this order. */
function answer(
  inputs: readonly unknown[],
  encoding: string,
  model: string,
  vector: (input: unknown) => readonly number[],
): string {
  const data = inputs.map((input, index) => ({
    object: 'embedding',
    index,
    embedding: encoding === 'base64' ? base64(vector(input)) : vector(input),
  }));
  const usage = { prompt_tokens: inputs.length * 2, total_tokens: inputs.length * 2 };
  return JSON.stringify({ object: 'list', data, model: `${model}-2026`, usage }, undefined, 2);
}

function base64(numbers: readonly number[]): string {
  const floats = Buffer.alloc(numbers.length * 4);
  for (const [index, value] of numbers.entries()) floats.writeFloatLE(value, index * 4);
  return floats.toString('base64');
}
