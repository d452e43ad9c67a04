import { SluiceError } from '../../core/errors.ts';
import { isChatModel, type Model } from '../../core/model.ts';
import type { Deps, Handler } from '../deps.ts';
import { isGoogleClient } from '../edge/guard.ts';
import { findModel } from '../find-model.ts';
import type { Variant } from '../variant.ts';
import { errorBody } from './errors.ts';
import { modelName } from './methods.ts';

type Json = Record<string, unknown>;

const PAGE_SIZE = 50;
const MOST_PER_PAGE = 1_000;

/** A listing for clients of the Gemini API below `/v1/models`, which newer ones ask for. */
export function forGoogleClients(handler: Handler): Variant {
  return { isFor: ({ headers }) => isGoogleClient(headers), handler, errorBody };
}

/** `GET /v1beta/models`: what can be asked, page by page. The token of a page is the number of models before it. */
export function listModels(deps: Deps): Handler {
  return async (request) => {
    const { pageSize, pageToken } = request.query as { pageSize?: unknown; pageToken?: unknown };
    const size = Math.min(MOST_PER_PAGE, count(pageSize, 'pageSize') || PAGE_SIZE);
    const start = count(pageToken, 'pageToken');
    const all = await allModels(deps);
    const models = all.slice(start, start + size);
    return { models, ...(start + size < all.length ? { nextPageToken: String(start + size) } : {}) };
  };
}

/** `GET /v1beta/models/<model>` */
export function getModel(deps: Deps): Handler {
  return async (request) => {
    const name = modelName((request.params as { '*': string })['*']);
    const found = await findModel(deps, name);
    if (found !== undefined) return toGemini(name, found.model);
    throw new SluiceError(
      'model_not_found',
      `models/${name.slice(0, 256)} is not found. GET /v1beta/models lists what there is.`,
    );
  };
}

/** Every model once, then the aliases. */
async function allModels(deps: Deps): Promise<readonly Json[]> {
  const models = new Map<string, Json>();
  for (const { models: offered } of await deps.router.catalog.list()) {
    for (const model of offered) if (!models.has(model.id)) models.set(model.id, toGemini(model.id, model));
  }
  for (const alias of deps.config().aliases.keys())
    models.set(alias, toGemini(alias, (await findModel(deps, alias))?.model ?? { id: alias }));
  return [...models.values()];
}

/** https://ai.google.dev/api/models#Model; limits that nobody told are left out. */
function toGemini(name: string, model: Model): Json {
  return {
    name: `models/${name}`,
    version: '001',
    displayName: model.label ?? name,
    description: model.label ?? name,
    ...(model.contextLength === undefined ? {} : { inputTokenLimit: model.contextLength }),
    ...(model.longestAnswer === undefined ? {} : { outputTokenLimit: model.longestAnswer }),
    supportedGenerationMethods: methodsOf(model),
    ...(model.reasoning === undefined ? {} : { thinking: model.reasoning }),
  };
}

function methodsOf(model: Model): readonly string[] {
  if (isChatModel(model)) return ['generateContent', 'streamGenerateContent', 'countTokens'];
  return model.type === 'embedding' ? ['embedContent', 'batchEmbedContents'] : [];
}

/** A number of the query; 0 where there is none. */
export function count(value: unknown, param: string): number {
  if (value === undefined || value === '') return 0;
  if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value);
  throw new SluiceError('invalid_request', `'${param}' must be a number that an earlier answer gave, or left out.`, {
    param,
  });
}
