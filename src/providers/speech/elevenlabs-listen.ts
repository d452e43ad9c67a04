import { dropPromptAndTemperature, type FieldNames, type ListenSpec, toFurtherOptions } from './listen-sdk.ts';

const FIELDS: FieldNames = {
  diarize: ['diarize', 'boolean'],
  num_speakers: ['numSpeakers', 'number'],
  tag_audio_events: ['tagAudioEvents', 'boolean'],
};

/** ElevenLabs' Scribe, which hears. */
export const elevenlabsListen: ListenSpec = {
  origin: 'https://api.elevenlabs.io',
  models: ['scribe_v2', 'scribe_v1'],

  async open(connection) {
    const { createElevenLabs } = await import('@ai-sdk/elevenlabs');
    return createElevenLabs(connection).transcription;
  },

  toOptions(request, drop) {
    dropPromptAndTemperature(request, drop);
    const { language } = request;
    return {
      ...(language === undefined ? {} : { languageCode: language }),
      ...toFurtherOptions(request, FIELDS, drop),
    };
  },
};
