import type { Limits } from '../../config/config.ts';
import type { Deps, Route } from '../deps.ts';
import { chat, generate } from './ask.ts';
import { EmbedAnswer, EmbedBody, EmbeddingAnswer, EmbeddingBody, embed, embedOne } from './embed.ts';
import { errorBody } from './errors.ts';
import { listRunning, listTags, notManaged, pullModel, showModel, version } from './models.ts';
import {
  AskedAnswer,
  ChatBody,
  GenerateBody,
  NamedBody,
  OllamaError,
  PullAnswer,
  ShowAnswer,
  TagList,
  VersionAnswer,
} from './wire.ts';

/** The wire format of Ollama's API, before any provider. */
export function ollamaRoutes(deps: Deps): readonly Route[] {
  // Ollama looks at no content type, and the examples of its documents come without.
  const common = { tag: 'Ollama API', errorBody, error: OllamaError, anyType: true } as const;
  const ask = {
    ...common,
    method: 'POST',
    bodyLimit: (limits: Limits) => limits.chatBodyBytes,
    answer: AskedAnswer,
    produces: ['application/x-ndjson', 'application/json'],
  } as const;
  const unmanaged = {
    ...common,
    hasNoBody: true,
    summary: 'Not here: models are not managed through this API',
    statuses: [],
    handler: notManaged(),
  } as const;
  return [
    {
      ...ask,
      url: '/api/chat',
      summary: 'Answer a conversation, by default as lines',
      body: ChatBody,
      kind: { dialect: 'ollama', operation: 'chat' },
      handler: chat(deps),
    },
    {
      ...ask,
      url: '/api/generate',
      summary: 'Answer a prompt, by default as lines',
      body: GenerateBody,
      kind: { dialect: 'ollama', operation: 'completion' },
      handler: generate(deps),
    },
    {
      ...common,
      method: 'POST',
      bodyLimit: (limits: Limits) => limits.chatBodyBytes,
      url: '/api/embed',
      summary: 'Turn texts into vectors',
      body: EmbedBody,
      answer: EmbedAnswer,
      kind: { dialect: 'ollama', operation: 'embedding' },
      handler: embed(deps),
    },
    {
      ...common,
      method: 'POST',
      bodyLimit: (limits: Limits) => limits.chatBodyBytes,
      url: '/api/embeddings',
      summary: 'The same for one text, as older clients ask',
      body: EmbeddingBody,
      answer: EmbeddingAnswer,
      kind: { dialect: 'ollama', operation: 'embedding' },
      handler: embedOne(deps),
    },
    {
      ...common,
      method: 'GET',
      url: '/api/tags',
      summary: 'All models and aliases',
      answer: TagList,
      handler: listTags(deps),
    },
    {
      ...common,
      method: 'POST',
      url: '/api/show',
      summary: 'What a model can do',
      body: NamedBody,
      answer: ShowAnswer,
      handler: showModel(deps),
    },
    { ...common, method: 'GET', url: '/api/ps', summary: 'The models that are loaded', handler: listRunning() },
    {
      ...common,
      method: 'GET',
      url: '/api/version',
      summary: 'The version of Ollama whose API this is like',
      answer: VersionAnswer,
      handler: version(),
    },
    {
      ...common,
      method: 'POST',
      url: '/api/pull',
      summary: 'Nothing to do for a model that is there, and no way to fetch another',
      body: NamedBody,
      answer: PullAnswer,
      handler: pullModel(deps),
    },
    ...['push', 'create', 'copy'].map((name) => ({ ...unmanaged, method: 'POST', url: `/api/${name}` }) as const),
    { ...unmanaged, method: 'DELETE', url: '/api/delete' },
  ];
}
