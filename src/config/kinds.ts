/** Kinds of providers that chat; some do more. */
const CHAT_KINDS = ['openai', 'openai-responses', 'anthropic', 'google', 'bedrock'] as const;

/** Those that speak or listen and do not chat. */
const SPEECH_KINDS = ['elevenlabs', 'deepgram', 'lmnt', 'hume', 'assemblyai'] as const;
/** Driven by code in `providers/speech`. */
export type SpeechKind = (typeof SPEECH_KINDS)[number];

/** Those that draw and do not chat. */
const IMAGE_KINDS = ['fal', 'replicate', 'luma', 'stability', 'automatic1111', 'comfyui'] as const;
/** Driven by code in `providers/image`. */
export type ImageKind = (typeof IMAGE_KINDS)[number];

/** Which code drives a provider. */
export const PROVIDER_KINDS = [...CHAT_KINDS, ...SPEECH_KINDS, ...IMAGE_KINDS] as const;
/** The `kind` of a provider in sluice.yaml. */
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** From the most to the least talkative. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** The least of what is logged; `silent` logs nothing. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How one of several targets that can do the same is chosen: the first, by weight, or the one that begins soonest. */
export const CHOICES = ['order', 'weighted', 'latency'] as const;
/** The `choice` of the section `routing` of sluice.yaml, and of an alias there. */
export type Choice = (typeof CHOICES)[number];
