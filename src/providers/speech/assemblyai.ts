import type { ProviderConfig } from '../../config/config.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Provider } from '../../core/provider.ts';
import { aboutOf } from '../about.ts';
import type { SpeechDeps } from './connection.ts';
import { type FieldNames, type ListenSpec, listenBySdk, listenModels, toFurtherOptions } from './listen-sdk.ts';

/** Not the web hook: it would send the transcript to an address that the client chooses. */
const FIELDS: FieldNames = {
  speaker_labels: ['speakerLabels', 'boolean'],
  speakers_expected: ['speakersExpected', 'number'],
  disfluencies: ['disfluencies', 'boolean'],
  filter_profanity: ['filterProfanity', 'boolean'],
  format_text: ['formatText', 'boolean'],
  punctuate: ['punctuate', 'boolean'],
  redact_pii: ['redactPii', 'boolean'],
  keyterms_prompt: ['keytermsPrompt', 'texts'],
};

const spec: ListenSpec = {
  origin: 'https://api.assemblyai.com',
  models: ['universal-3-5-pro', 'universal-3-pro', 'universal-2', 'best'],

  async open(connection) {
    const { createAssemblyAI } = await import('@ai-sdk/assemblyai');
    return createAssemblyAI(connection).transcription;
  },

  toOptions(request, drop) {
    const { language, prompt, temperature } = request;
    return {
      ...(language === undefined ? { languageDetection: true } : { languageCode: language }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(temperature === undefined ? {} : { temperature }),
      ...toFurtherOptions(request, FIELDS, drop),
    };
  },

  failure(thrown) {
    const said = thrown instanceof Error ? /^Transcription failed: (.*)$/s.exec(thrown.message)?.[1] : undefined;
    return said === undefined ? undefined : new SluiceError('invalid_request', said.slice(0, 1_000));
  },
};

/** AssemblyAI, which listens and does nothing else. Its library asks every three seconds whether it is done. */
export function assemblyai(config: ProviderConfig, deps: SpeechDeps): Provider {
  return {
    ...aboutOf(config),
    async models() {
      const known = listenModels(spec);
      return config.models?.map((id) => ({ id, type: 'transcription', audio: true })) ?? known;
    },
    transcribe: listenBySdk('assemblyai', spec, config, deps),
  };
}
