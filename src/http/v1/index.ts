import { z } from 'zod';
import type { Limits } from '../../config/config.ts';
import type { Deps, Route } from '../deps.ts';
import { errorBody } from '../edge/errors.ts';
import { isOfGoogle } from '../edge/guard.ts';
import { errorBody as googleErrorBody } from '../gemini/errors.ts';
import { orMethod } from '../gemini/methods.ts';
import { forAnthropicClients, getModelInfo, listModelInfos } from '../messages/models.ts';
import { audioSpeech, SpeechBody } from './audio-speech.ts';
import { chatCompletions } from './chat-completions.ts';
import { getModel, getProvider, listModels, listProviderModels, listProviders } from './models.ts';
import { ChatCompletionBody, ModelList, ModelObject, ProviderObject } from './wire.ts';

const TAG = 'Compatible interface';
const EVENTS = ['application/json', 'text/event-stream'];

/** Dialect B. */
export function v1Routes(deps: Deps): readonly Route[] {
  const chat = {
    method: 'POST',
    tag: TAG,
    body: ChatCompletionBody,
    bodyLimit: (limits: Limits) => limits.chatBodyBytes,
    produces: EVENTS,
    handler: chatCompletions(deps),
  } as const;
  const model = { tag: TAG, summary: 'One model', answer: ModelObject, handler: getModel(deps) } as const;
  const speech = {
    method: 'POST',
    tag: TAG,
    body: SpeechBody,
    produces: ['audio/mpeg', 'audio/ogg', 'audio/wav', 'audio/aac', 'audio/flac', 'audio/pcm'],
    handler: audioSpeech(deps),
  } as const;
  return [
    { ...speech, url: '/v1/audio/speech', summary: 'Read a text aloud' },
    { ...speech, url: '/api/:provider/audio/speech', summary: 'The same, by one provider' },
    { ...chat, url: '/v1/chat/completions', summary: 'Answer a conversation, whole or as a stream of deltas' },
    { ...chat, url: '/api/:provider/chat/completions', summary: 'The same, by one provider' },
    { ...chat, url: '/api/:provider/:conversation_id/chat/completions', summary: 'The same, within a conversation' },
    {
      method: 'GET',
      url: '/v1/models',
      summary: 'All models, aliases and providers',
      tag: TAG,
      answer: ModelList,
      handler: forAnthropicClients(listModelInfos(deps), listModels(deps)),
    },
    {
      ...model,
      method: 'GET',
      url: '/v1/models/*',
      handler: forAnthropicClients(getModelInfo(deps), getModel(deps)),
    },
    {
      ...model,
      method: 'POST',
      url: '/v1/models/*',
      bodyLimit: (limits: Limits) => limits.chatBodyBytes,
      errorBody: (error, { raw }) => (isOfGoogle(raw) ? googleErrorBody(error) : errorBody(error)),
      handler: orMethod(deps, model.handler),
    },
    {
      method: 'GET',
      url: '/api/:provider/models',
      summary: 'The models of one provider',
      tag: TAG,
      answer: ModelList,
      handler: listProviderModels(deps),
    },
    {
      method: 'GET',
      url: '/v1/providers',
      summary: 'All providers',
      tag: TAG,
      answer: z.array(ProviderObject),
      handler: listProviders(deps),
    },
    {
      method: 'GET',
      url: '/v1/providers/:provider',
      summary: 'One provider',
      tag: TAG,
      answer: ProviderObject,
      handler: getProvider(deps),
    },
  ];
}
