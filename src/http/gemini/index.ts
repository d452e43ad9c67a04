import type { Limits } from '../../config/config.ts';
import type { Deps, Route } from '../deps.ts';
import { SERVED } from '../media/serve.ts';
import { errorBody } from './errors.ts';
import {
  deleteFile,
  FileMetadata,
  GeminiFile,
  GeminiFileList,
  getFile,
  listFiles,
  UploadAnswer,
  UploadAnswerHeaders,
  UploadHeaders,
  UploadQuery,
  uploadFile,
} from './files.ts';
import { kindOfAnyMethod, modelMethod, noMethod } from './methods.ts';
import { getModel, listModels } from './models.ts';
import { Empty, GeminiError, GeminiModel, GeminiModelList, ListQuery, MethodAnswer, MethodBody } from './wire.ts';

const TAG = 'Gemini API';

/** The wire format of Google's Gemini API, before any provider. */
export function geminiRoutes(deps: Deps): readonly Route[] {
  const common = { tag: TAG, errorBody, error: GeminiError } as const;
  const upload = {
    ...common,
    method: 'POST',
    summary: 'A file that messages may refer to, in one piece or piece by piece, as `X-Goog-Upload-Command` says',
    body: FileMetadata,
    query: UploadQuery,
    headers: UploadHeaders,
    takesBytes: true,
    hasNoBody: true,
    bodyLimit: (limits: Limits) => limits.uploadFileBytes,
    answer: UploadAnswer,
    answerHeaders: UploadAnswerHeaders,
    handler: uploadFile(deps),
  } as const;
  const method = {
    ...common,
    method: 'POST',
    body: MethodBody,
    bodyLimit: (limits: Limits) => limits.chatBodyBytes,
    answer: MethodAnswer,
    produces: ['application/json', 'text/event-stream'],
    kind: kindOfAnyMethod,
    refusal: noMethod,
    handler: modelMethod(deps),
  } as const;
  return [
    {
      ...method,
      url: '/v1beta/models/*',
      summary:
        'What can be done with a model: `<model>:generateContent`, `<model>:streamGenerateContent` (with `alt=sse` as events), `<model>:countTokens`, `<model>:embedContent`, `<model>:batchEmbedContents`',
    },
    // The AI SDK takes a model whose name has a slash for a whole path.
    {
      ...method,
      url: '/v1beta/:provider/*',
      summary:
        'The same for clients that leave out `models/` where the name of a model has a slash: `<provider>/<model>:generateContent`',
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
    { ...upload, url: '/upload/v1beta/files' },
    // Newer clients.
    { ...upload, url: '/upload/v1/files' },
    {
      ...common,
      method: 'GET',
      url: '/v1beta/files',
      summary: 'The files that are kept, page by page',
      query: ListQuery,
      answer: GeminiFileList,
      handler: listFiles(deps),
    },
    {
      ...common,
      method: 'GET',
      url: '/v1beta/files/:id',
      summary: 'What is known of a file; with `:download` behind its name, its bytes',
      answer: GeminiFile,
      produces: ['application/json', 'application/octet-stream'],
      ...SERVED,
      handler: getFile(deps),
    },
    {
      ...common,
      method: 'DELETE',
      url: '/v1beta/files/:id',
      summary: 'Deletes a file, and what was made of it',
      answer: Empty,
      handler: deleteFile(deps),
    },
  ];
}
