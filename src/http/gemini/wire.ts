import { z } from 'zod';
import { CallFields, Count, DROPPED_FIELDS, Finite, RoutingFields } from '../wire.ts';
import { camelName, toCamelCase } from './camel.ts';

/**
 * The wire format of Google's Gemini API (https://ai.google.dev/api/generate-content), version v1beta. Structure is
 * checked, values are the upstream's business: unknown fields and unknown kinds of parts are kept.
 */

const Record = z.record(z.string(), z.unknown());
const Blob = z.looseObject({
  mimeType: z.string().max(256).optional(),
  data: z.string(),
  displayName: z.string().optional(),
});
const FileData = z.looseObject({
  mimeType: z.string().max(256).optional(),
  fileUri: z.string(),
  displayName: z.string().optional(),
});

const Part = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  inlineData: Blob.optional(),
  fileData: FileData.optional(),
  videoMetadata: Record.optional(),
  functionCall: z.looseObject({ id: z.string().optional(), name: z.string(), args: Record.nullish() }).optional(),
  functionResponse: z
    .looseObject({
      id: z.string().optional(),
      name: z.string(),
      response: Record.nullish(),
      parts: z
        .array(
          z.looseObject({
            inlineData: Blob.optional(),
            fileData: FileData.optional(),
            bucketId: z.string().optional(),
          }),
        )
        .max(1_000)
        .optional(),
    })
    .optional(),
  executableCode: z.looseObject({ language: z.string().optional(), code: z.string().optional() }).optional(),
  codeExecutionResult: z.looseObject({ outcome: z.string().optional(), output: z.string().optional() }).optional(),
  bucketId: z.string().optional().describe('An uploaded bucket, or with `name` one media file of it'),
});
/** https://ai.google.dev/api/caching#Part */
export type WirePart = z.infer<typeof Part>;

/** A list, or its only element: the API takes both. */
function listOf<T extends z.ZodType>(element: T, most: number) {
  return z.union([z.array(element).max(most), element]);
}

const Content = z.looseObject({ role: z.string().max(64).nullish(), parts: listOf(Part, 10_000).nullish() });
/** What one side said (https://ai.google.dev/api/caching#Content). */
export type WireContent = z.infer<typeof Content>;

const FunctionDeclaration = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: Record.nullish(),
  parametersJsonSchema: Record.nullish(),
});
/** `parameters` is Google's own kind of schema, `parametersJsonSchema` a JSON Schema. */
export type WireFunction = z.infer<typeof FunctionDeclaration>;

const Tool = z.looseObject({ functionDeclarations: z.array(FunctionDeclaration).max(1_000).nullish() });
/** Functions; Google's own tools are other members, which are kept. */
export type WireTool = z.infer<typeof Tool>;

const FunctionCallingConfig = z.looseObject({
  mode: z.string().max(64).nullish(),
  allowedFunctionNames: z.array(z.string()).max(1_000).nullish(),
});

const GenerationConfig = z.looseObject({
  temperature: Finite,
  topP: Finite,
  topK: Finite,
  maxOutputTokens: Count,
  candidateCount: z.int().min(1).max(8).nullish(),
  stopSequences: z.array(z.string()).max(256).nullish(),
  seed: Finite,
  presencePenalty: Finite,
  frequencyPenalty: Finite,
  responseMimeType: z.string().max(256).nullish(),
  responseSchema: Record.nullish(),
  responseJsonSchema: Record.nullish(),
  thinkingConfig: z
    .looseObject({
      includeThoughts: z.boolean().nullish(),
      thinkingBudget: z.number().nullish(),
      thinkingLevel: z.string().max(64).nullish(),
    })
    .nullish(),
});
/** https://ai.google.dev/api/generate-content#GenerationConfig */
export type WireGenerationConfig = z.infer<typeof GenerationConfig>;

/** Where and how something is done, and for whom. */
const AskingFields = {
  models: RoutingFields.models,
  provider: RoutingFields.provider,
  ignored: RoutingFields.ignored,
  apiKey: RoutingFields.api_key,
  user: z.string().max(1_000).nullish(),
  ...CallFields,
};

const Asking = z.looseObject(AskingFields);
/** Sluice's own fields, which every body may have. */
export type WireAsking = z.infer<typeof Asking>;

const GenerateFields = {
  contents: z.union([z.array(Content).min(1), Content]),
  systemInstruction: z.union([Content, z.string()]).nullish(),
  tools: listOf(Tool, 1_000).nullish(),
  toolConfig: z.looseObject({ functionCallingConfig: FunctionCallingConfig.nullish() }).nullish(),
  generationConfig: GenerationConfig.nullish(),
  ...AskingFields,
  webSearch: RoutingFields.web_search,
  downloadMedia: RoutingFields.download_media,
  conversation: RoutingFields.conversation,
  memory: z.boolean().nullish().describe('Add what is remembered of `user` and has to do with the question'),
};

/** Names in snake_case are taken too. */
export const GenerateContentBody = z
  .preprocess(toCamelCase, z.looseObject(GenerateFields))
  .describe('A request of the Gemini API; fields that are not listed are passed on to providers that know them');
export type GenerateContentBody = z.infer<typeof GenerateContentBody>;

/** The fields that are understood here; the rest is the upstream's. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([...Object.keys(GenerateFields), 'model']);

const FOR_GOOGLE: ReadonlySet<string> = new Set(['tools', 'toolConfig', 'generationConfig']);

/** Fields that are never passed on, as they are called here. */
export const REFUSED_FIELDS: ReadonlySet<string> = new Set(DROPPED_FIELDS.map(camelName));

/** The fields that are Sluice's own business, and those that are written anew. */
export const OWN_FIELDS: ReadonlySet<string> = new Set(
  [...KNOWN_FIELDS, ...REFUSED_FIELDS].filter((name) => !FOR_GOOGLE.has(name)),
);

/** More texts than the largest body holds that say anything. */
const MOST_EMBEDDED = 100_000;

const EmbeddingSettings = {
  taskType: z.string().max(256).nullish(),
  title: z.string().nullish(),
  outputDimensionality: z.int().positive().nullish(),
};

const EmbeddingFields = {
  content: Content,
  ...EmbeddingSettings,
  embedContentConfig: z.looseObject(EmbeddingSettings).nullish(),
};

const Embedding = z.looseObject(EmbeddingFields);
/** One text of a request, with what is said of its vector (https://ai.google.dev/api/embeddings). */
export type WireEmbedding = z.infer<typeof Embedding>;

/** `:embedContent`. Names in snake_case are taken here, too. */
export const EmbedContentBody = z.preprocess(toCamelCase, z.looseObject({ ...EmbeddingFields, ...AskingFields }));
/** `:batchEmbedContents`. All requests must have the same settings. */
export const BatchEmbedContentsBody = z.preprocess(
  toCamelCase,
  z.looseObject({ requests: z.array(Embedding).min(1).max(MOST_EMBEDDED), ...AskingFields }),
);
export type BatchEmbedContentsBody = z.infer<typeof BatchEmbedContentsBody>;

/** The fields of a request for a vector that are no setting of it. */
export const NO_SETTINGS: ReadonlySet<string> = new Set([
  ...['model', 'content', 'embedContentConfig'],
  ...Object.keys(AskingFields),
  ...REFUSED_FIELDS,
]);

const { contents: _, ...WithoutContents } = GenerateFields;
const { content: __, ...WithoutContent } = EmbeddingFields;

/**
 * What a POST below `models` may bring. `:countTokens` takes messages alone, or a whole request; `:embedContent` needs a
 * `content`, `:batchEmbedContents` `requests`, and the others `contents`.
 */
export const MethodBody = z.looseObject({
  contents: GenerateFields.contents.nullish(),
  ...WithoutContents,
  generateContentRequest: z.looseObject(GenerateFields).nullish().describe('For `:countTokens` only'),
  content: Content.nullish().describe('For `:embedContent` only'),
  ...WithoutContent,
  requests: z.array(Embedding).nullish().describe('For `:batchEmbedContents` only'),
});

/** `:countTokens`: messages alone, or a whole request as `generateContentRequest`. */
export const CountTokensBody = z.preprocess(
  toCamelCase,
  z.looseObject({
    contents: GenerateFields.contents.nullish(),
    ...WithoutContents,
    generateContentRequest: z.looseObject(GenerateFields).nullish(),
  }),
);

const Vector = z.object({ values: z.array(z.number()) });

/** What the methods below `models` answer: each has some of these. */
export const MethodAnswer = z.looseObject({
  candidates: z.array(z.looseObject({ index: z.int(), finishReason: z.string().optional() })).optional(),
  usageMetadata: z
    .looseObject({ promptTokenCount: z.int().optional(), totalTokenCount: z.int().optional() })
    .optional(),
  modelVersion: z.string().optional(),
  responseId: z.string().optional(),
  embedding: Vector.optional(),
  embeddings: z.array(Vector).optional(),
});

/** Google's form of an error (https://google.aip.dev/193); `code` is the HTTP status. */
export const GeminiError = z.object({
  error: z.object({
    code: z.int(),
    message: z.string(),
    status: z.string(),
    details: z.array(z.looseObject({ '@type': z.string() })),
  }),
});

/** Of models and of files. The token is what the page before gave. */
export const ListQuery = z.object({
  pageSize: z
    .string()
    .regex(/^\d{1,6}$/)
    .optional(),
  pageToken: z.string().max(256).optional(),
});

/** https://ai.google.dev/api/models#Model */
export const GeminiModel = z.looseObject({
  name: z.string(),
  displayName: z.string(),
  supportedGenerationMethods: z.array(z.string()),
});

/** A page; without a token it is the last. */
export const GeminiModelList = z.object({ models: z.array(GeminiModel), nextPageToken: z.string().optional() });

/** What Google answers to a deletion. */
export const Empty = z.object({});
