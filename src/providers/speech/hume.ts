import { fromSpeechSdk } from './ai-sdk.ts';

/** Hume. It has one model, which requests do not name; its voices are named by their ids. */
export const hume = fromSpeechSdk('hume', {
  origin: 'https://api.hume.ai',
  models: ['octave'],
  formats: { mp3: 'mp3', wav: 'wav' },

  instructions: true,

  async open(connection) {
    const { createHume } = await import('@ai-sdk/hume');
    const { speech } = createHume(connection);
    return () => speech();
  },
});
