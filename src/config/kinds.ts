/** Which code drives a provider. The last four speak and do not chat. */
export const PROVIDER_KINDS = [
  'openai',
  'anthropic',
  'google',
  'bedrock',
  'elevenlabs',
  'deepgram',
  'lmnt',
  'hume',
] as const;
