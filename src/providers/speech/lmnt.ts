import { fromSpeechSdk } from './ai-sdk.ts';

/** LMNT. */
export const lmnt = fromSpeechSdk('lmnt', {
  origin: 'https://api.lmnt.com',
  models: ['blizzard', 'aurora'],
  formats: { mp3: 'mp3', wav: 'wav', aac: 'aac' },
  options: ['seed', 'conversational', 'length', 'topP', 'temperature', 'sampleRate'],

  async open(connection) {
    const { createLMNT } = await import('@ai-sdk/lmnt');
    return createLMNT(connection).speech;
  },

  // With options, the library takes the speed from among them alone.
  toOptions(options, { speed }) {
    return Object.keys(options).length === 0 || speed === undefined ? options : { ...options, speed };
  },
});
