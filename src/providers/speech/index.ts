import type { ProviderConfig } from '../../config/config.ts';
import type { SpeechKind } from '../../config/kinds.ts';
import type { Provider } from '../../core/provider.ts';
import { assemblyai } from './assemblyai.ts';
import type { SpeechDeps } from './connection.ts';
import { deepgram } from './deepgram.ts';
import { elevenlabs } from './elevenlabs.ts';
import { hume } from './hume.ts';
import { lmnt } from './lmnt.ts';

/** Vendors that only speak or listen, through their AI SDK libraries, which load on first use. */
export const speechVendors = { elevenlabs, deepgram, lmnt, hume, assemblyai } satisfies Record<
  SpeechKind,
  (config: ProviderConfig, deps: SpeechDeps) => Provider
>;

/** Whether providers of this kind speak or listen, and do not chat. */
export function isSpeechKind(kind: string): kind is SpeechKind {
  return Object.hasOwn(speechVendors, kind);
}

export { createFliteProvider, withVoiceOf } from './flite.ts';
export { withGoogleSpeech } from './google.ts';
export { voicesOfModel, withOpenAiSpeech } from './openai.ts';
