import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { toNumbers } from '../../core/vectors.ts';
import type { Performed } from '../../routing/router.ts';
import { answerHeaders, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { type Counted, performEmbedding } from '../embedding.ts';
import { askedOf, callOf, furtherFields, TaskFields } from '../task-fields.ts';
import { validate } from '../validate.ts';
import { Name } from '../wire.ts';
import { modelNamed } from './models.ts';

const MOST_INPUTS = 100_000;

/** What both ways to ask have in common. */
const Asked = {
  ...TaskFields,
  model: Name.min(1),
  options: z.record(z.string(), z.unknown()).nullish(),
  keep_alive: z.union([z.string(), z.number()]).nullish().describe('Without effect: nothing is loaded on demand'),
};

/** `POST /api/embed` */
export const EmbedBody = z.looseObject({
  ...Asked,
  input: z.union([z.string(), z.array(z.string()).max(MOST_INPUTS)]),
  truncate: z.boolean().nullish().describe('Without effect: what is too long is the provider’s business'),
  dimensions: z.int().positive().nullish(),
});

/** `POST /api/embeddings`, the older way, for one text. */
export const EmbeddingBody = z.looseObject({ ...Asked, prompt: z.string() });

const Asking = z.looseObject({ ...Asked, dimensions: z.int().positive().nullish() });
type Asking = z.infer<typeof Asking>;

/** One vector for each input. */
export const EmbedAnswer = z.looseObject({ model: z.string(), embeddings: z.array(z.array(z.number())) });
/** In answer to the older way. */
export const EmbeddingAnswer = z.looseObject({ embedding: z.array(z.number()) });

/** Understood here, or without effect on a vector. */
const KNOWN = [...Object.keys(EmbedBody.shape), ...Object.keys(EmbeddingBody.shape)];

/** `POST /api/embed` */
export function embed(deps: Deps): Handler {
  return async (request, reply) => {
    const body = validate(EmbedBody, bodyValue(request), 'invalid_request');
    const { input } = body;
    const startedAt = performance.now();
    // Asked for nothing, Ollama loads the model.
    if (input.length === 0) return reply.send({ model: body.model, embeddings: [] });
    return ask(deps, request, reply, body, typeof input === 'string' ? [input] : input, ({ value }) => ({
      model: body.model,
      embeddings: value.vectors.map(toNumbers),
      total_duration: Math.round((performance.now() - startedAt) * 1e6),
      load_duration: 0,
      prompt_eval_count: value.usage.promptTokens,
    }));
  };
}

/** `POST /api/embeddings` */
export function embedOne(deps: Deps): Handler {
  return async (request, reply) => {
    const body = validate(EmbeddingBody, bodyValue(request), 'invalid_request');
    if (body.prompt === '') return reply.send({ embedding: [] });
    return ask(deps, request, reply, body, [body.prompt], ({ value }) => ({
      embedding: value.vectors.map(toNumbers)[0] ?? [],
    }));
  };
}

async function ask(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  body: Asking,
  inputs: readonly string[],
  encode: (answered: Performed<Counted>) => object,
): Promise<FastifyReply> {
  const asked = askedOf(request, body);
  const wish = { ...asked.wish, model: await modelNamed(body.model, deps) };
  const { dimensions } = body;
  const wanted = {
    inputs,
    isSingle: inputs.length === 1,
    encoding: undefined,
    extra: furtherFields(body, KNOWN),
    ...(dimensions == null ? {} : { dimensions }),
  };
  return withCall(request, reply, deps, callOf(body), async (call) => {
    const answered = await performEmbedding(deps, { ...asked, wish }, call, inputs, (provider, model, scope) => {
      for (const field of Object.keys(body.options ?? {})) scope.drop(`options.${field}`);
      return provider.embed({ ...wanted, model }, scope);
    });
    reply.headers(answerHeaders(answered)).send(encode(answered));
  });
}
