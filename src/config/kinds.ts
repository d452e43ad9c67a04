/** Which code drives a provider. From `elevenlabs` on they speak or listen and do not chat, from `fal` on they only draw. */
export const PROVIDER_KINDS = [
  'openai',
  'openai-responses',
  'anthropic',
  'google',
  'bedrock',
  'elevenlabs',
  'deepgram',
  'lmnt',
  'hume',
  'assemblyai',
  'fal',
  'replicate',
  'luma',
  'stability',
  'automatic1111',
  'comfyui',
] as const;

/** How one of several targets that can do the same is chosen: the first, by weight, or the one that begins soonest. */
export const CHOICES = ['order', 'weighted', 'latency'] as const;
export type Choice = (typeof CHOICES)[number];
