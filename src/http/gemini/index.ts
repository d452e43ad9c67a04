import type { Limits } from '../../config/config.ts';
import type { Deps, Route } from '../deps.ts';
import { errorBody } from './errors.ts';
import { kindOfAnyMethod, modelMethod } from './methods.ts';
import { getModel, listModels } from './models.ts';
import { GeminiError, GeminiModel, GeminiModelList, ListQuery, MethodAnswer, MethodBody } from './wire.ts';

const TAG = 'Gemini API';

/** The wire format of Google's Gemini API, before any provider. */
export function geminiRoutes(deps: Deps): readonly Route[] {
  const common = { tag: TAG, errorBody, error: GeminiError } as const;
  return [
    {
      ...common,
      method: 'POST',
      url: '/v1beta/models/*',
      summary:
        'What can be done with a model: `<model>:generateContent`, `<model>:streamGenerateContent` (with `alt=sse` as events), `<model>:countTokens`, `<model>:embedContent`, `<model>:batchEmbedContents`',
      body: MethodBody,
      bodyLimit: (limits: Limits) => limits.chatBodyBytes,
      answer: MethodAnswer,
      produces: ['application/json', 'text/event-stream'],
      kind: kindOfAnyMethod,
      handler: modelMethod(deps),
    },
    {
      ...common,
      method: 'GET',
      url: '/v1beta/models',
      summary: 'All models and aliases, page by page',
      query: ListQuery,
      answer: GeminiModelList,
      handler: listModels(deps),
    },
    {
      ...common,
      method: 'GET',
      url: '/v1beta/models/*',
      summary: 'One model',
      answer: GeminiModel,
      handler: getModel(deps),
    },
  ];
}
