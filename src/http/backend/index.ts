import { z } from 'zod';
import { tagOfAnswer } from '../../streams/kept-answers.ts';
import type { Deps, OwnerOf, Route } from '../deps.ts';
import { StatsAnswer } from '../observe/stats.ts';
import { QuotaAnswer, quota } from '../quota.ts';
import { getChat, postChat } from './chats.ts';
import { conversation } from './conversation.ts';
import { uploadCookies } from './cookies.ts';
import { create } from './create.ts';
import { deleteFiles, getFiles, postFiles } from './files.ts';
import { ConversationForm, CookieForm, UploadForm } from './forms.ts';
import { postLog } from './log.ts';
import { deleteMedia, listMedia, MediaListAnswer, MediaListQuery } from './media.ts';
import { deleteMemory, getMemory, postMemory } from './memory.ts';
import { models, providerModels, providers } from './models.ts';
import { deleteStream, getStream } from './streams.ts';
import { SynthesizeQuery, synthesize } from './synthesize.ts';
import { TAGGED } from './tagged.ts';
import { getUsage, postUsage, stats } from './usage.ts';
import { version } from './version.ts';
import {
  AnyRecord,
  ChatBody,
  ConversationBody,
  CreateQuery,
  FilesQuery,
  MemoryBody,
  MemoryPage,
  MemoryQuery,
  ModelEntry,
  ModelsQuery,
  PROVIDERS_PATH,
  ProviderEntry,
  ProviderModelsQuery,
  StatsQuery,
  StopAnswer,
  StreamQuery,
  UploadAnswer,
  VersionAnswer,
} from './wire.ts';

const TAG = 'Web backend';
const BASE = '/backend-api/v2';

const ownerOfStream: OwnerOf = ({ params }) => tagOfAnswer((params as { id: string }).id);
/** The events of an upload are where it runs. */
const whoUploads: OwnerOf = ({ params }, elsewhere) => elsewhere.uploading((params as { id: string }).id);

/** Dialect A. */
export function backendRoutes(deps: Deps): readonly Route[] {
  const { answers } = deps;
  return [
    {
      method: 'POST',
      url: `${BASE}/conversation`,
      summary: 'Answer a turn of a conversation as a stream of typed chunks',
      tag: TAG,
      body: ConversationBody,
      form: ConversationForm,
      bodyLimit: (limits) => limits.chatBodyBytes,
      produces: ['text/event-stream', 'application/x-ndjson'],
      kind: { dialect: 'backend', operation: 'chat' },
      handler: conversation(deps, answers),
    },
    {
      method: 'GET',
      url: `${BASE}/streams/:id`,
      summary: 'What came after an event of a resumable answer, and what follows until its end',
      tag: TAG,
      query: StreamQuery,
      produces: ['text/event-stream'],
      isCostly: true,
      ownerOf: ownerOfStream,
      handler: getStream(deps, answers),
    },
    {
      method: 'DELETE',
      url: `${BASE}/streams/:id`,
      summary: 'Stop a resumable answer, here and upstream',
      tag: TAG,
      answer: StopAnswer,
      ownerOf: ownerOfStream,
      handler: deleteStream(answers),
    },
    {
      method: 'GET',
      url: `${BASE}/create`,
      summary: 'Answer one prompt as plain text',
      tag: TAG,
      query: CreateQuery,
      produces: ['text/plain'],
      statuses: [200, 302],
      isCostly: true,
      kind: { dialect: 'backend', operation: 'chat' },
      handler: create(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/models`,
      summary: 'All models by provider',
      tag: TAG,
      query: ModelsQuery,
      answer: z.union([z.record(z.string(), z.array(ModelEntry)), z.array(ModelEntry)]),
      ...TAGGED,
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
      ...TAGGED,
      handler: providers(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/quota/:provider`,
      summary: 'What is left of the account at a provider, where that tells it',
      tag: TAG,
      answer: QuotaAnswer,
      isCostly: true,
      handler: quota(deps, PROVIDERS_PATH),
    },
    {
      method: 'GET',
      url: `${BASE}/synthesize/:provider`,
      summary: 'Read a text aloud',
      tag: TAG,
      query: SynthesizeQuery,
      produces: ['audio/mpeg', 'audio/ogg', 'audio/wav', 'audio/aac', 'audio/flac', 'audio/pcm'],
      kind: { dialect: 'backend', operation: 'speech' },
      handler: synthesize(deps),
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
    ...keptRoutes(deps),
  ];
}

/** What is kept for users: files, shared chats, memory, cookies, usage, log. */
function keptRoutes(deps: Deps): readonly Route[] {
  const tag = 'Files and records';
  const stored = { tag, answer: z.object({}) } as const;
  return [
    {
      method: 'POST',
      url: `${BASE}/files/:id`,
      summary: 'Upload documents and media into a bucket',
      tag,
      form: UploadForm,
      answer: UploadAnswer,
      handler: postFiles(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/files/:id`,
      summary: 'The text of everything in a bucket',
      tag,
      query: FilesQuery,
      produces: ['text/plain', 'text/event-stream'],
      ownerOf: whoUploads,
      handler: getFiles(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/files/:id/stream`,
      summary: 'What happens to a bucket, as events, until it is ready',
      tag,
      query: FilesQuery,
      produces: ['text/event-stream'],
      ownerOf: whoUploads,
      handler: getFiles(deps),
    },
    {
      method: 'DELETE',
      url: `${BASE}/files/:id`,
      summary: 'Delete a bucket, and a shared chat of the same id',
      tag,
      answer: z.object({ message: z.string() }),
      ownerOf: whoUploads,
      handler: deleteFiles(deps),
    },
    {
      method: 'POST',
      url: `${BASE}/upload_cookies`,
      summary: 'Hand over the cookies of a browser to the providers that need them',
      tag,
      form: CookieForm,
      answer: z.object({ message: z.string(), filename: z.string() }),
      handler: uploadCookies(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/chat/:id`,
      summary: 'A shared chat',
      tag,
      answer: AnyRecord,
      ...TAGGED,
      handler: getChat(deps),
    },
    {
      method: 'POST',
      url: `${BASE}/chat/:id`,
      summary: 'Share a chat, or a newer version of it',
      tag,
      body: ChatBody,
      bodyLimit: (limits) => limits.sharedChatBytes,
      answer: z.object({ share_id: z.string() }),
      handler: postChat(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/media`,
      summary: 'Pictures, sounds and videos that are kept of answers, the newest first',
      tag,
      query: MediaListQuery,
      answer: MediaListAnswer,
      handler: listMedia(deps),
    },
    {
      method: 'DELETE',
      url: `${BASE}/media/:name`,
      summary: 'Delete a kept file',
      tag,
      answer: z.object({ message: z.string() }),
      handler: deleteMedia(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/memory/:id`,
      summary: 'What is remembered of a user',
      tag,
      query: MemoryQuery,
      answer: MemoryPage,
      handler: getMemory(deps),
    },
    {
      method: 'POST',
      url: `${BASE}/memory/:id`,
      summary: 'Remember what was said',
      tag,
      body: MemoryBody,
      answer: z.object({ count: z.int() }),
      handler: postMemory(deps),
    },
    {
      method: 'DELETE',
      url: `${BASE}/memory/:id`,
      summary: 'Forget everything of a user',
      tag,
      answer: z.object({ count: z.int() }),
      handler: deleteMemory(deps),
    },
    {
      method: 'DELETE',
      url: `${BASE}/memory/:id/:item`,
      summary: 'Forget one statement',
      tag,
      answer: z.object({ count: z.int() }),
      handler: deleteMemory(deps),
    },
    {
      ...stored,
      method: 'POST',
      url: `${BASE}/usage`,
      summary: 'Note the use of tokens',
      body: AnyRecord,
      handler: postUsage(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/usage/:date`,
      summary: 'The use of tokens on a day (yyyy-mm-dd), one JSON line an answer',
      tag,
      produces: ['text/plain'],
      handler: getUsage(deps),
    },
    {
      method: 'GET',
      url: `${BASE}/stats`,
      summary: 'The use of tokens over days',
      tag,
      query: StatsQuery,
      answer: StatsAnswer,
      handler: stats(deps),
    },
    {
      ...stored,
      method: 'POST',
      url: `${BASE}/log`,
      summary: 'Report what went wrong in a front end',
      body: AnyRecord,
      handler: postLog(deps),
    },
  ];
}
