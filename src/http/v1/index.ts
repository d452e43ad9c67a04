import { z } from 'zod';
import type { Limits } from '../../config/config.ts';
import type { Operation, RouteKind } from '../../observe/observation.ts';
import type { Deps, Route } from '../deps.ts';
import { geminiMethods, kindOfMethod } from '../gemini/methods.ts';
import { forGoogleClients, getModel as getGeminiModel, listModels as listGeminiModels } from '../gemini/models.ts';
import { forAnthropicClients, getModelInfo, listModelInfos } from '../messages/models.ts';
import { QuotaAnswer, quota } from '../quota.ts';
import { withVariant } from '../variant.ts';
import { TranscriptionForm } from './audio-form.ts';
import { audioListRoutes } from './audio-lists.ts';
import { audioSpeech, SpeechBody } from './audio-speech.ts';
import { TranscriptAnswer, transcriptions } from './audio-transcriptions.ts';
import { chatCompletions } from './chat-completions.ts';
import { Completion, CompletionBody } from './completion-body.ts';
import { completions } from './completions.ts';
import { EmbeddingBody, EmbeddingList, embeddings } from './embeddings.ts';
import { fileRoutes } from './file-routes.ts';
import { imageRoutes } from './images.ts';
import { indexPage } from './index-page.ts';
import { MarkItDownAnswer, markitdown } from './markitdown.ts';
import { MarkItDownPage, markitdownUrl } from './markitdown-url.ts';
import { getModel, getProvider, listModels, listProviderModels, listProviders } from './models.ts';
import { ModerationAnswer, ModerationBody, moderations } from './moderations.ts';
import { RankedList, RerankBody, rerank } from './rerank.ts';
import { CookieFilesAnswer, CookieFilesForm, uploadCookieFiles } from './upload-cookies.ts';
import { ChatCompletionBody, ModelList, ModelObject, ProviderObject } from './wire.ts';

const TAG = 'Compatible interface';
const EVENTS = ['application/json', 'text/event-stream'];

function asks(operation: Operation): RouteKind {
  return { dialect: 'openai', operation };
}

/** What is asked of models beside chats and pictures. */
function taskRoutes(deps: Deps): readonly Route[] {
  const bodyLimit = (limits: Limits): number => limits.chatBodyBytes;
  const task = { method: 'POST', tag: TAG, bodyLimit } as const;
  const heard = {
    method: 'POST',
    tag: TAG,
    form: TranscriptionForm,
    answer: TranscriptAnswer,
    produces: ['application/json', 'text/plain', 'text/vtt', 'text/event-stream'],
  } as const;
  const spoken = { ...heard, kind: asks('transcription') };
  const transcription = { ...spoken, handler: transcriptions(deps, 'transcribe') };
  const translation = { ...spoken, handler: transcriptions(deps, 'translate') };
  const embedding = {
    ...task,
    body: EmbeddingBody,
    answer: EmbeddingList,
    kind: asks('embedding'),
    handler: embeddings(deps),
  };
  const moderation = {
    ...task,
    body: ModerationBody,
    answer: ModerationAnswer,
    kind: asks('moderation'),
    handler: moderations(deps),
  };
  const ranking = { ...task, body: RerankBody, answer: RankedList, kind: asks('rerank'), handler: rerank(deps) };
  const completion = {
    ...task,
    body: CompletionBody,
    answer: Completion,
    produces: EVENTS,
    kind: asks('completion'),
    handler: completions(deps),
  };
  const SAME = 'The same, by one provider';
  return [
    { ...transcription, url: '/v1/audio/transcriptions', summary: 'What a recording says' },
    { ...transcription, url: '/api/:provider/audio/transcriptions', summary: SAME },
    { ...translation, url: '/v1/audio/translations', summary: 'What a recording says, in English' },
    { ...translation, url: '/api/:provider/audio/translations', summary: SAME },
    {
      ...heard,
      url: '/api/markitdown',
      summary: 'The text of a document or of a recording',
      answer: MarkItDownAnswer,
      handler: markitdown(deps),
    },
    {
      method: 'GET',
      url: '/markitdown/*',
      summary: 'The text of a page, a document or a recording on the Internet, by its address',
      tag: TAG,
      answer: MarkItDownPage,
      isCostly: true,
      handler: markitdownUrl(deps),
    },
    { ...embedding, url: '/v1/embeddings', summary: 'Turn texts into vectors' },
    { ...embedding, url: '/api/:provider/embeddings', summary: SAME },
    { ...completion, url: '/v1/completions', summary: 'Go on with a text' },
    { ...completion, url: '/api/:provider/completions', summary: SAME },
    { ...moderation, url: '/v1/moderations', summary: 'Look for harmful content' },
    { ...moderation, url: '/api/:provider/moderations', summary: SAME },
    { ...ranking, url: '/v1/rerank', summary: 'Order documents by how well they fit a question' },
    { ...ranking, url: '/v2/rerank', summary: 'The same, where clients of Cohere look for it' },
    { ...ranking, url: '/api/:provider/rerank', summary: SAME },
  ];
}

/** Dialect B. */
export function v1Routes(deps: Deps): readonly Route[] {
  const chat = {
    method: 'POST',
    tag: TAG,
    body: ChatCompletionBody,
    bodyLimit: (limits: Limits) => limits.chatBodyBytes,
    produces: EVENTS,
    kind: asks('chat'),
    handler: chatCompletions(deps),
    outlines: true,
  } as const;
  const model = { tag: TAG, summary: 'One model', answer: ModelObject, handler: getModel(deps) } as const;
  const speech = {
    method: 'POST',
    tag: TAG,
    body: SpeechBody,
    produces: ['audio/mpeg', 'audio/ogg', 'audio/wav', 'audio/aac', 'audio/flac', 'audio/pcm', 'text/event-stream'],
    kind: asks('speech'),
    handler: audioSpeech(deps),
  } as const;
  return [
    {
      method: 'GET',
      url: '/v1',
      summary: 'A page with links, for browsers',
      tag: TAG,
      produces: ['text/html'],
      handler: indexPage,
    },
    ...imageRoutes(deps).map((route) => ({ ...route, kind: asks('image') })),
    { ...speech, url: '/v1/audio/speech', summary: 'Read a text aloud' },
    { ...speech, url: '/api/:provider/audio/speech', summary: 'The same, by one provider' },
    ...audioListRoutes(deps),
    ...taskRoutes(deps),
    ...fileRoutes(deps),
    {
      method: 'POST',
      url: '/v1/upload_cookies',
      summary: 'Hand over the cookies of a browser, in one file or several',
      tag: TAG,
      form: CookieFilesForm,
      answer: CookieFilesAnswer,
      handler: uploadCookieFiles(deps),
    },
    { ...chat, url: '/v1/chat/completions', summary: 'Answer a conversation, whole or as a stream of deltas' },
    { ...chat, url: '/api/:provider/chat/completions', summary: 'The same, by one provider' },
    { ...chat, url: '/api/:provider/:conversation_id/chat/completions', summary: 'The same, within a conversation' },
    withVariant(
      {
        method: 'GET',
        url: '/v1/models',
        summary: 'All models, aliases and providers',
        tag: TAG,
        answer: ModelList,
        handler: listModels(deps),
      },
      forAnthropicClients(listModelInfos(deps)),
      forGoogleClients(listGeminiModels(deps)),
    ),
    withVariant(
      { ...model, method: 'GET', url: '/v1/models/*' },
      forAnthropicClients(getModelInfo(deps)),
      forGoogleClients(getGeminiModel(deps)),
    ),
    withVariant(
      { ...model, method: 'POST', url: '/v1/models/*', hasNoBody: true, kind: kindOfMethod },
      geminiMethods(deps),
    ),
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
      url: '/api/:provider/quota',
      summary: 'What is left of the account at a provider, where that tells it',
      tag: TAG,
      answer: QuotaAnswer,
      isCostly: true,
      handler: quota(deps),
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
