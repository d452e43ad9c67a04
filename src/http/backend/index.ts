import { z } from 'zod';
import type { Deps, Route } from '../deps.ts';
import { conversation } from './conversation.ts';
import { create } from './create.ts';
import { models, providerModels, providers } from './models.ts';
import { version } from './version.ts';
import {
  ConversationBody,
  CreateQuery,
  ModelEntry,
  ModelsQuery,
  ProviderEntry,
  ProviderModelsQuery,
  VersionAnswer,
} from './wire.ts';

const TAG = 'Web backend';
const BASE = '/backend-api/v2';

/** Dialect A. */
export function backendRoutes(deps: Deps): readonly Route[] {
  return [
    {
      method: 'POST',
      url: `${BASE}/conversation`,
      summary: 'Answer a turn of a conversation as a stream of typed chunks',
      tag: TAG,
      body: ConversationBody,
      multipart: true,
      produces: ['text/event-stream', 'application/x-ndjson'],
      handler: conversation(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/create`,
      summary: 'Answer one prompt as plain text',
      tag: TAG,
      query: CreateQuery,
      produces: ['text/plain'],
      handler: create(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/models`,
      summary: 'All models by provider',
      tag: TAG,
      query: ModelsQuery,
      answer: z.union([z.record(z.string(), z.array(ModelEntry)), z.array(ModelEntry)]),
      handler: models(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/models/:provider`,
      summary: 'The models of one provider',
      tag: TAG,
      query: ProviderModelsQuery,
      answer: z.array(ModelEntry),
      handler: providerModels(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/providers`,
      summary: 'All providers and what they need',
      tag: TAG,
      answer: z.array(ProviderEntry),
      handler: providers(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/version`,
      summary: 'The running version',
      tag: TAG,
      query: z.object({ cache: z.string().optional() }),
      answer: VersionAnswer,
      handler: version(deps),
    },
  ];
}
