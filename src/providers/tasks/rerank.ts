import { SluiceError } from '../../core/errors.ts';
import { isObject, membersOf } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import type { RankedDocument, RankedResult, Ranking, RerankRequest } from '../../core/rerank.ts';
import { needModel, postForJson, type TaskUpstream } from './post.ts';

const DEED = 'rerank';

/** `rerank` by the `/rerank` of Jina, vLLM, llama.cpp and others that have taken over Cohere's form. */
export function rerankByRelay(upstream: TaskUpstream): NonNullable<Provider['rerank']> {
  return async (request, call) => {
    const { query, documents, topN } = request;
    const body = bodyOf(request, upstream, { query, documents: documents.map(simple), top_n: topN });
    const { json } = await postForJson(upstream, { deed: DEED, endpoint: '/rerank', body }, call);
    return decodeRanking(json, request, upstream.provider);
  };
}

/** Cohere's own API, which lies beside the one that is like OpenAI's and takes nothing but texts. */
export function rerankByCohere(upstream: TaskUpstream): NonNullable<Provider['rerank']> {
  return async (request, call) => {
    const body = bodyOf(request, upstream, { ...asTexts(request), top_n: request.topN });
    const sent = { deed: DEED, endpoint: '', path: cohereV2('/rerank'), body };
    const { json } = await postForJson(upstream, sent, call);
    return decodeRanking(json, request, upstream.provider);
  };
}

/** Voyage calls the number of results `top_k`, and the results `data`. */
export function rerankByVoyage(upstream: TaskUpstream): NonNullable<Provider['rerank']> {
  return async (request, call) => {
    const body = bodyOf(request, upstream, { ...asTexts(request), top_k: request.topN });
    const { json } = await postForJson(upstream, { deed: DEED, endpoint: '/rerank', body }, call);
    return decodeRanking(json, request, upstream.provider);
  };
}

/** `https://api.cohere.ai/compatibility/v1` → `https://api.cohere.ai/v2/…`. */
export function cohereV2(endpoint: string): (usual: string) => string {
  return (usual) => `${usual.replace(/\/(compatibility\/)?v\d+\/?$/, '')}/v2${endpoint}`;
}

/** The upstream's own words beside whatever else was asked for. */
function bodyOf({ extra, model }: RerankRequest, { provider }: TaskUpstream, words: Record<string, unknown>): string {
  return JSON.stringify({ ...extra, model: needModel(model, provider), ...words });
}

/** Query and documents for upstreams that take nothing but texts. */
function asTexts({ query, documents }: RerankRequest): Record<string, unknown> {
  return { query: asText(query), documents: documents.map(asText) };
}

/** Best first, whatever the order in which the upstream sent them, and no more than were asked for. */
function decodeRanking(
  json: Readonly<Record<string, unknown>>,
  { documents, topN }: RerankRequest,
  { label }: Provider,
): Ranking {
  const { id, model, usage, meta } = json;
  const listed = [json['results'], json['data']].find((each) => Array.isArray(each)) as unknown[] | undefined;
  const results = (listed ?? []).map((entry): RankedResult => {
    const { index, relevance_score: relevance, score = relevance } = membersOf(entry);
    if (typeof index === 'number' && documents[index] !== undefined && typeof score === 'number')
      return { index, score };
    throw new SluiceError('upstream_invalid', `${label} ranked something that was not among the documents.`);
  });
  if (listed === undefined) throw new SluiceError('upstream_invalid', `${label} sent no results.`);
  return {
    results: results.sort((one, other) => other.score - one.score).slice(0, topN ?? results.length),
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof model === 'string' ? { model } : {}),
    ...(isObject(usage) ? { usage } : {}),
    ...(isObject(meta) ? { meta } : {}),
  };
}

/** Not every upstream takes the object for the text. */
function simple(document: RankedDocument): RankedDocument {
  if (typeof document === 'string') return document;
  const { text, ...others } = document;
  return typeof text === 'string' && Object.keys(others).length === 0 ? text : document;
}

/** A document with fields as the lines that Cohere recommends. */
function asText(document: RankedDocument): string {
  const plain = simple(document);
  if (typeof plain === 'string') return plain;
  return Object.entries(plain)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}
