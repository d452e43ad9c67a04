import { fromSpeechSdk } from './ai-sdk.ts';
import { elevenlabsListen } from './elevenlabs-listen.ts';

/** Options of theirs that belong together. */
const VOICE_SETTINGS = ['stability', 'similarityBoost', 'style', 'useSpeakerBoost'];

/** ElevenLabs. */
export const elevenlabs = fromSpeechSdk('elevenlabs', {
  origin: 'https://api.elevenlabs.io',
  models: ['eleven_multilingual_v2', 'eleven_v3', 'eleven_flash_v2_5', 'eleven_turbo_v2_5'],
  formats: { mp3: 'mp3', pcm: 'pcm_24000' },
  options: ['seed', 'previousText', 'nextText', 'applyTextNormalization', ...VOICE_SETTINGS],

  listen: elevenlabsListen,

  async open(connection) {
    const { createElevenLabs } = await import('@ai-sdk/elevenlabs');
    return createElevenLabs(connection).speech;
  },

  toOptions(options) {
    const settings = Object.entries(options).filter(([name]) => VOICE_SETTINGS.includes(name));
    if (settings.length === 0) return options;
    const others = Object.entries(options).filter(([name]) => !VOICE_SETTINGS.includes(name));
    return { ...Object.fromEntries(others), voiceSettings: Object.fromEntries(settings) };
  },
});
