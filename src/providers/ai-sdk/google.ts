import { z } from 'zod';
import { addressPart } from '../../core/address-part.ts';
import type { ChatRequest } from '../../core/chat.ts';
import { isDataUri } from '../../core/data-uri.ts';
import type { Model } from '../../core/model.ts';
import { defined, isObject, membersOf, parseObject } from '../../core/objects.ts';
import { drawing } from '../image/describe.ts';
import { lostCacheMarks, lostDetail, lostOneCall, lostThoughts } from '../lost.ts';
import { withShownMedia } from '../shown-media.ts';
import { fromAiSdk } from './adapter.ts';
import { type BudgetRange, budgetWithin } from './budget.ts';
import { mended } from './google-mend.ts';
import { contentApi } from './google-native.ts';
import { withText } from './google-text.ts';
import { hasOnly } from './joined-texts.ts';
import { listPages } from './listing.ts';
import { withNamedFiles } from './named-files.ts';
import { lostEffort } from './options.ts';

/** Of pictures; it refuses others. */
const RATIOS: readonly string[] = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

/** Google's Gemini API. */
export const google = fromAiSdk({
  baseUrl: () => 'https://generativelanguage.googleapis.com/v1beta',
  modelName: /^((models|tunedModels)\/)?[A-Za-z0-9][\w.-]*$/,
  toolName: /^[A-Za-z_][\w.:-]{0,63}$/,

  async open({ baseUrl, apiKey, headers, fetch }) {
    const { createGoogle } = await import('@ai-sdk/google');
    const library = createGoogle({ baseURL: baseUrl, apiKey, headers, fetch });
    return (model) => withText(library(model));
  },

  native: contentApi,
  taken: (request) => withNamedFiles(withSeenResults(request)),
  events: {
    mending: () => ({ mend: mended }),
    says(event) {
      const { candidates } = event;
      const [candidate, second] = Array.isArray(candidates) ? candidates : [];
      if (!isObject(candidate) || second !== undefined || !hasOnly(event, EVENT) || !hasOnly(candidate, CANDIDATE)) {
        return undefined;
      }
      const { parts } = membersOf(candidate['content']);
      const [part, another] = Array.isArray(parts) ? parts : [];
      if (!isObject(part) || another !== undefined || !hasOnly(part, PART)) return undefined;
      return { holder: part, member: 'text', of: `${part['thought']} ${'usageMetadata' in event}` };
    },
    ends(data) {
      if (!data.includes('"finishReason"')) return false;
      const { candidates } = membersOf(parseObject(data));
      const { finishReason } = membersOf(Array.isArray(candidates) ? candidates[0] : undefined);
      return typeof finishReason === 'string' && finishReason !== '';
    },
  },
  lost: (request) => [
    ...lostCacheMarks(request),
    ...lostDetail(request),
    ...lostOneCall(request),
    ...lostThoughts(request, 'google'),
    ...lostEffort(request),
  ],
  effort: takenEffort,

  embeddings: {
    perRequest: () => 100,
    async open({ baseUrl, apiKey, headers, fetch }) {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle({ baseURL: baseUrl, apiKey, headers, fetch }).embeddingModel;
    },
    options({ dimensions, extra }, drop) {
      const { task_type: taskType, ...others } = extra;
      for (const field of Object.keys(others)) drop(field);
      return {
        google: {
          ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
          ...(typeof taskType === 'string' ? { taskType } : {}),
        },
      };
    },
  },

  options({ model, sampling, aspectRatio }) {
    const { reasoningEffort: effort, ...others } = sampling;
    const taken = effort === undefined ? undefined : takenEffort(effort, model);
    const range = budgetRange(model);
    const budget =
      taken === undefined || range === undefined
        ? undefined
        : budgetWithin({ ...others, reasoningEffort: taken }, range);
    const thinkingConfig = {
      // Thoughts are kept back unless asked for, and models that do not think refuse the question.
      ...(effort === undefined || effort === 'none' ? {} : { includeThoughts: true }),
      ...(budget === undefined ? {} : { thinkingBudget: budget }),
    };
    const hasRatio = aspectRatio !== undefined && RATIOS.includes(aspectRatio);
    return {
      google: {
        ...(Object.keys(thinkingConfig).length === 0 ? {} : { thinkingConfig }),
        ...(makesImages(model) ? { responseModalities: ['TEXT', 'IMAGE'] } : {}),
        ...(makesImages(model) && hasRatio ? { imageConfig: { aspectRatio } } : {}),
      },
    };
  },

  async listModels(connection, signal) {
    const pages = await listPages(
      connection,
      signal,
      { 'x-goog-api-key': connection.apiKey },
      'pageSize=1000',
      (json) => Page.parse(json),
      (page) => (page.nextPageToken ? `pageSize=1000&pageToken=${addressPart(page.nextPageToken)}` : undefined),
    );
    return pages.flatMap((page) =>
      (page.models ?? [])
        .filter((entry) => answersChats(entry) || speaks(entry) || draws(entry) || embeds(entry))
        .map(toModel),
    );
  },
});

/** An effort that the model can be asked for; undefined: none. */
function takenEffort(word: string, model: string): string | undefined {
  if ((word === 'none' || word === 'minimal') && model.includes('gemini-pro-latest')) return 'low';
  if (word !== 'none' || CAN_THINK_LESS.test(model)) return word;
  // A model that always thinks; those that never do refuse to be told not to.
  return model.includes('gemini-2.5-pro') ? 'minimal' : undefined;
}

/** Of the models that count their thoughts; later ones know levels (https://ai.google.dev/gemini-api/docs/thinking). */
function budgetRange(model: string): BudgetRange | undefined {
  const [, kind] = /gemini-2\.5-(pro|flash-lite|flash)(?!.*-image)/.exec(model) ?? [];
  switch (kind) {
    case 'pro':
      return { least: 128, most: 32_768 };
    case 'flash-lite':
      return { least: 512, most: 24_576 };
    case 'flash':
      return { least: 1, most: 24_576 };
    default:
      return undefined;
  }
}

/** Models that can be told to think less, or not at all (https://ai.google.dev/gemini-api/docs/thinking). */
const CAN_THINK_LESS = /gemini-(?:2\.5-flash|[3-9]|flash-)(?!.*-image)/;

/** All that an event with a piece of text has, its candidate, and its part. */
const EVENT: ReadonlySet<string> = new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId']);
const CANDIDATE: ReadonlySet<string> = new Set(['content', 'index', 'safetyRatings']);
const PART: ReadonlySet<string> = new Set(['text', 'thought']);

/** What tools show by its address is seen by the model in the user's words alone: of a result the library makes a text of it. */
function withSeenResults(request: ChatRequest): ChatRequest {
  const messages = withShownMedia(
    request.messages,
    (part, role) => role === 'tool' && part.type === 'media' && !isDataUri(part.url),
  );
  return { ...request, messages };
}

const Entry = z.object({
  name: z.string(),
  displayName: z.string().optional().catch(undefined),
  inputTokenLimit: z.number().optional().catch(undefined),
  outputTokenLimit: z.number().optional().catch(undefined),
  supportedGenerationMethods: z.array(z.string()).catch([]),
  thinking: z.boolean().optional().catch(undefined),
});
const Page = z.object({ models: z.array(Entry).optional(), nextPageToken: z.string().optional() });

function answersChats(entry: z.infer<typeof Entry>): boolean {
  return entry.supportedGenerationMethods.includes('generateContent') && !speaks(entry);
}

/** Models that only speak are listed with the method of those that chat, but refuse to answer in text. */
function speaks({ name }: z.infer<typeof Entry>): boolean {
  return /-tts\b/.test(name);
}

/** Imagen, and Veo for videos, do nothing else. */
function draws({ supportedGenerationMethods: methods, name }: z.infer<typeof Entry>): boolean {
  return /^models\/(imagen|veo)-/.test(name) && methods.some((method) => /^predict(LongRunning)?$/.test(method));
}

function embeds(entry: z.infer<typeof Entry>): boolean {
  return entry.supportedGenerationMethods.includes('embedContent');
}

function toModel(entry: z.infer<typeof Entry>): Model {
  const id = entry.name.replace(/^models\//, '');
  const label = defined({ label: entry.displayName });
  if (embeds(entry) && !answersChats(entry)) return { id, ...label, type: 'embedding' };
  if (speaks(entry)) return { id, ...label, type: 'speech', audio: true };
  if (draws(entry)) return drawing(id);
  const isGemini = id.startsWith('gemini-');
  return {
    id,
    ...label,
    ...defined({ contextLength: entry.inputTokenLimit, longestAnswer: entry.outputTokenLimit }),
    ...(isGemini ? { vision: true, audio: true, video: true } : {}),
    ...(makesImages(id) ? { image: true } : {}),
    ...(isGemini && !makesImages(id) ? { tools: true } : {}),
    ...(entry.thinking === true ? { reasoning: true } : {}),
  };
}

function makesImages(model: string): boolean {
  return /^(models\/)?gemini-.*-image\b/.test(model);
}
