import type { Model } from '../../core/model.ts';
import { isObject } from '../../core/objects.ts';
import type { Capabilities } from './capabilities.ts';

/** The fields that are read of a listing or one of its entries, by whoever sends them. All are checked where they are used. */
export type Entry = { readonly [field in Field]?: unknown };

type Field =
  | ('data' | 'models' | 'result') // listings
  | ('id' | 'model' | 'name' | 'key' | 'display_name' | 'title')
  | ('type' | 'model_type' | 'task')
  | (
      | 'architecture'
      | 'input_modalities'
      | 'output_modalities'
      | 'supported_input_modalities'
      | 'supported_output_modalities'
    )
  | ('capabilities' | 'supported_parameters' | 'features' | 'tags' | 'supports_chat')
  | (
      | 'loaded_context_length'
      | 'context_length'
      | 'context_window'
      | 'max_context_length'
      | 'max_model_len'
      | 'context_size'
    )
  | ('limits' | 'max_input_tokens' | 'meta' | 'n_ctx' | 'n_ctx_train' | 'metadata' | 'providers' | 'properties')
  | ('property_id' | 'value' | 'completion_chat');

const MAX_TEXT = 256;
const MAX_TAGS = 16;

/** Undefined: it is no object. */
export function asEntry(value: unknown): Entry | undefined {
  return isObject(value) ? value : undefined;
}

/** Text that can be shown and sent on: of sane length, without control and invisible formatting characters. */
export function cleanText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT) return undefined;
  if (value !== value.trim() || !value.isWellFormed() || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value)) return undefined;
  return value;
}

/** What an entry says about its model; `false` is a clear no. */
export function saidOf(entry: Entry): Capabilities {
  return {
    ...fromFlags(entry),
    ...fromParameters(entry),
    ...fromModalities(entry),
    ...fromType(entry),
    ...contextOf(entry),
    ...tagsOf(entry),
  };
}

/** Mistral's OCR models and the like, which no endpoint of ours serves. */
export function saysNoChat(entry: Entry): boolean {
  return asEntry(entry.capabilities)?.completion_chat === false || entry.supports_chat === false;
}

/** The words of Together, Vercel, LM Studio, Novita and Cloudflare, in lower case and with `-` between words. */
const TYPES = new Map<string, Capabilities>([
  ...['chat', 'language', 'llm', 'text-generation'].map((word) => [word, { type: 'chat' }] as const),
  ['vlm', { type: 'chat', vision: true }],
  ...['image', 'text-to-image'].map((word) => [word, { type: 'image', image: true }] as const),
  ...['video', 'text-to-video'].map((word) => [word, { type: 'video', video: true }] as const),
  ...['audio', 'tts', 'text-to-speech'].map((word) => [word, { type: 'speech', audio: true }] as const),
  ...['transcribe', 'transcription', 'automatic-speech-recognition'].map(
    (word) => [word, { type: 'transcription', audio: true }] as const,
  ),
  ...['embedding', 'embeddings', 'text-embeddings'].map((word) => [word, { type: 'embedding' }] as const),
  ...['rerank', 'reranker'].map((word) => [word, { type: 'rerank' }] as const),
  ['moderation', { type: 'moderation' }],
]);

function fromType(entry: Entry): Capabilities {
  for (const word of [entry.type, entry.model_type, asEntry(entry.task)?.name]) {
    if (typeof word !== 'string') continue;
    const found = TYPES.get(word.toLowerCase().replace(/[\s_]/g, '-'));
    if (found) return found;
  }
  return {};
}

/** OpenRouter, Hugging Face, xAI, GitHub and Novita name what goes in and what comes out. */
function fromModalities(entry: Entry): Capabilities {
  const architecture = asEntry(entry.architecture);
  const inputs = wordsOf(architecture?.input_modalities ?? entry.input_modalities ?? entry.supported_input_modalities);
  const outputs = wordsOf(
    architecture?.output_modalities ?? entry.output_modalities ?? entry.supported_output_modalities,
  );
  const type = typeOfModalities(inputs, outputs);
  const audio = [inputs, outputs].some((side) => side?.has('audio') || side?.has('speech'));
  return {
    ...(inputs && { vision: inputs.has('image') }),
    ...(outputs && { image: outputs.has('image'), video: outputs.has('video') }),
    ...((inputs || outputs) && { audio }),
    ...(type && { type }),
  };
}

function typeOfModalities(inputs: Words, outputs: Words): Model['type'] {
  if (!outputs) return undefined;
  if (outputs.has('transcription')) return 'transcription';
  if (outputs.has('text')) return inputs?.has('audio') && inputs.size === 1 ? 'transcription' : 'chat';
  if (outputs.has('video')) return 'video';
  if (outputs.has('image')) return 'image';
  if (outputs.has('audio') || outputs.has('speech')) return 'speech';
  if (outputs.has('embeddings') || outputs.has('embedding')) return 'embedding';
  return outputs.has('rerank') ? 'rerank' : undefined;
}

/** OpenRouter's list of the request fields that a model takes is complete, so a missing word is a no. */
function fromParameters(entry: Entry): Capabilities {
  const parameters = wordsOf(entry.supported_parameters);
  if (!parameters) return {};
  return {
    tools: parameters.has('tools'),
    reasoning: parameters.has('reasoning') || parameters.has('include_reasoning'),
  };
}

const FLAGS = [
  ['tools', /^(?:(?:supports[-_])?(?:tools|tool[-_](?:use|calls|calling)|function[-_]calling)|trained_for_tool_use)$/],
  ['vision', /^(?:(?:supports[-_])?(?:vision|image[-_]in(?:put)?)|multimodal)$/],
  ['reasoning', /^(?:supports[-_])?(?:reasoning|thinking)$/],
] as const;

/**
 * Flags under many names: Mistral's `capabilities: {function_calling: true}`, `capabilities: ['tool_use']` of LM Studio and
 * GitHub, `supports_tools: true` of Fireworks and (for each host of a model) Hugging Face, `tags` and `features` of Vercel,
 * DeepInfra and Novita. A word in a list only affirms, as most lists are incomplete; a boolean may also deny.
 */
function fromFlags(entry: Entry): Capabilities {
  const found = new Map<string, boolean>();
  const sources = [
    asEntry(entry.metadata)?.tags,
    entry.tags,
    entry.features,
    entry.capabilities,
    entry,
    ...hostsOf(entry),
  ];
  for (const [word, value] of sources.flatMap(flagsOf)) {
    for (const [flag, pattern] of FLAGS) {
      if (pattern.test(word)) found.set(flag, value || found.get(flag) === true);
    }
  }
  return Object.fromEntries(found);
}

function flagsOf(source: unknown): readonly (readonly [word: string, value: boolean])[] {
  const words = wordsOf(source);
  if (words) return [...words].map((word) => [word, true] as const);
  return Object.entries(asEntry(source) ?? {}).filter(
    (pair): pair is [string, boolean] => typeof pair[1] === 'boolean',
  );
}

/** The length in force comes first: LM Studio names that of the loaded model and the possible one. */
function contextOf(entry: Entry): Pick<Model, 'contextLength'> {
  const meta = asEntry(entry.meta);
  const window = listOf(entry.properties).find((property) => property.property_id === 'context_window');
  const candidates = [
    entry.loaded_context_length,
    entry.context_length,
    entry.context_window,
    entry.max_context_length,
    entry.max_model_len,
    entry.context_size,
    asEntry(entry.limits)?.max_input_tokens,
    asEntry(entry.metadata)?.context_length,
    meta?.n_ctx ?? meta?.n_ctx_train,
    window?.value,
    ...hostsOf(entry).map((host) => host.context_length),
  ];
  const contextLength = candidates.map(tokensOf).find((tokens) => tokens !== undefined);
  return contextLength === undefined ? {} : { contextLength };
}

/** Cloudflare writes figures as text. */
function tokensOf(value: unknown): number | undefined {
  const tokens = typeof value === 'string' ? Number(value) : value;
  return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined;
}

function tagsOf(entry: Entry): Pick<Model, 'tags'> {
  const tags = wordsOf(entry.tags) ?? wordsOf(asEntry(entry.metadata)?.tags) ?? new Set<string>();
  const clean = [...tags].filter((tag) => cleanText(tag) !== undefined).slice(0, MAX_TAGS);
  return clean.length === 0 ? {} : { tags: clean };
}

/** The services behind Hugging Face's router that serve a model. */
function hostsOf(entry: Entry): readonly Entry[] {
  return listOf(entry.providers);
}

function listOf(value: unknown): readonly Entry[] {
  return Array.isArray(value) ? value.map(asEntry).filter((item) => item !== undefined) : [];
}

type Words = ReadonlySet<string> | undefined;

function wordsOf(value: unknown): Words {
  if (!Array.isArray(value)) return undefined;
  return new Set(value.filter((word) => typeof word === 'string').map((word) => word.toLowerCase()));
}
