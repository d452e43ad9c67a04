import { z } from 'zod';
import type { EmbeddingInput, EmbeddingRequest, VectorEncoding } from '../../core/embedding.ts';
import { vectorJson } from '../../core/vectors.ts';
import { answerHeaders, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { type Counted, performEmbedding } from '../embedding.ts';
import { askedOf, callOf, furtherFields, TaskFields } from '../task-fields.ts';
import { validate } from '../validate.ts';

/** More inputs than the largest body holds in words that say anything. */
const MOST_INPUTS = 100_000;

const Tokens = z.array(z.int().nonnegative()).min(1);

/** `POST embeddings`. Fields that are not listed go to the provider. */
export const EmbeddingBody = z
  .looseObject({
    ...TaskFields,
    input: z
      .union([z.string(), z.array(z.string()).min(1).max(MOST_INPUTS), Tokens, z.array(Tokens).min(1).max(MOST_INPUTS)])
      .describe('A text, texts, or tokens of cl100k_base: one list, or one for each input'),
    encoding_format: z.enum(['float', 'base64']).nullish().describe('base64: 32 bit floats, little-endian'),
    dimensions: z.int().positive().nullish(),
    user: z.string().max(1_000).nullish(),
  })
  .describe('Texts to turn into vectors');
type EmbeddingBody = z.infer<typeof EmbeddingBody>;

const KNOWN = Object.keys(EmbeddingBody.shape);

/** A vector is a text where `encoding_format` is `base64`; `estimated`: nobody counted the tokens. */
export const EmbeddingList = z.looseObject({
  object: z.literal('list'),
  data: z.array(
    z.looseObject({
      object: z.literal('embedding'),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int(), estimated: z.boolean().optional() }),
});

/** `POST embeddings`: texts as vectors, in OpenAI's format. */
export function embeddings(deps: Deps): Handler {
  return (request, reply) => {
    const value = bodyValue(request);
    const body = validate(EmbeddingBody, value, 'invalid_field');
    const wanted = toRequest(body);
    return withCall(request, reply, deps, callOf(body), async (call) => {
      const answered = await performEmbedding(
        deps,
        askedOf(request, body),
        call,
        wanted.inputs,
        (provider, model, scope) => provider.embed({ ...wanted, model }, scope),
      );
      const { value: found, target } = answered;
      reply
        .headers(answerHeaders(answered))
        .header('content-type', 'application/json; charset=utf-8')
        .send(encodeEmbeddings(found, body.encoding_format ?? 'float', found.model ?? target.model));
    });
  };
}

function toRequest(body: EmbeddingBody): Omit<EmbeddingRequest, 'model'> {
  const { input, encoding_format: encoding, dimensions, user } = body;
  const isSingle = typeof input === 'string' || typeof input[0] === 'number';
  return {
    inputs: (isSingle ? [input] : input) as readonly EmbeddingInput[],
    isSingle,
    encoding: encoding ?? undefined,
    extra: furtherFields(body, KNOWN),
    ...(dimensions == null ? {} : { dimensions }),
    ...(user == null ? {} : { user }),
  };
}

/** OpenAI's answer: the upstream's own bytes where nothing has to change. */
function encodeEmbeddings(found: Counted, encoding: VectorEncoding, model: string): Buffer {
  if (found.bytes !== undefined && found.written === encoding) return found.bytes;
  const data = found.vectors.map(
    (vector, index) => `{"object":"embedding","index":${index},"embedding":${vectorJson(vector, encoding)}}`,
  );
  const { promptTokens, totalTokens, estimated } = found.usage;
  const usage = JSON.stringify({
    prompt_tokens: promptTokens,
    total_tokens: totalTokens,
    ...(estimated === true ? { estimated } : {}),
  });
  return Buffer.from(`{"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(model)},"usage":${usage}}`);
}
