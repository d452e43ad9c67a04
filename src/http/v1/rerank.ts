import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import type { RankedDocument, Ranking, RerankRequest } from '../../core/rerank.ts';
import { answerHeaders, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { perform } from '../perform.ts';
import { askedOf, callOf, furtherFields, TaskFields } from '../task-fields.ts';
import { validate } from '../validate.ts';

const MOST_DOCUMENTS = 10_000;

const Fields = z.record(z.string(), z.unknown());

/** `POST rerank`, in the form that Cohere, Jina and others share. Fields that are not listed go to the provider. */
export const RerankBody = z
  .looseObject({
    ...TaskFields,
    query: z.union([z.string(), Fields]).describe('What is looked for'),
    documents: z
      .array(z.union([z.string(), Fields]))
      .min(1)
      .max(MOST_DOCUMENTS)
      .describe('Texts, or objects `{text}`'),
    top_n: z.int().positive().nullish().describe('How many of the best to answer; absent: all'),
    return_documents: z.boolean().nullish().describe('Whether each result shall hold its document'),
  })
  .describe('Documents to put into the order in which they fit a question');
type RerankBody = z.infer<typeof RerankBody>;

const KNOWN = Object.keys(RerankBody.shape);

/** The best first; `index` is the document's place in the request. */
export const RankedList = z.looseObject({
  id: z.string(),
  model: z.string(),
  results: z.array(z.looseObject({ index: z.int(), relevance_score: z.number(), document: Fields.optional() })),
});

/** `POST rerank`. */
export function rerank(deps: Deps): Handler {
  return (request, reply) => {
    const value = bodyValue(request);
    const body = validate(RerankBody, value, 'invalid_field');
    const wanted = toRequest(body);
    return withCall(request, reply, deps, callOf(body), async (call) => {
      const answered = await perform(deps, askedOf(request, body), 'rerank', call, (provider, model, scope) =>
        provider.rerank({ ...wanted, model }, scope),
      );
      const tokens = answered.value.usage?.['total_tokens'];
      if (typeof tokens === 'number') {
        deps.router.spent(answered.target, { promptTokens: tokens, completionTokens: 0, totalTokens: tokens }, call);
      }
      reply.headers(answerHeaders(answered)).send(encode(answered.value, answered.target.model, body));
    });
  };
}

function toRequest(body: RerankBody): Omit<RerankRequest, 'model'> {
  if (typeof body.query === 'string' && body.query.trim() === '') {
    throw new SluiceError('invalid_field', "'query' must not be empty.", { param: 'query' });
  }
  return {
    query: body.query,
    documents: body.documents,
    extra: furtherFields(body, KNOWN),
    ...(body.top_n == null ? {} : { topN: body.top_n }),
  };
}

/** What clients of Cohere and of Jina both read. Documents are the client's own: not every upstream gives them back. */
function encode({ id, model, results, usage, meta }: Ranking, asked: string, body: RerankBody): object {
  return {
    id: id ?? randomUUID(),
    model: model ?? asked,
    results: results.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(body.return_documents === true ? { document: asObject(body.documents[index] ?? '') } : {}),
    })),
    ...(usage === undefined ? {} : { usage }),
    ...(meta === undefined ? {} : { meta }),
  };
}

function asObject(document: RankedDocument): Readonly<Record<string, unknown>> {
  return typeof document === 'string' ? { text: document } : document;
}
