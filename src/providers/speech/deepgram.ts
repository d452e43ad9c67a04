import { fromSpeechSdk } from './ai-sdk.ts';
import { deepgramListen } from './deepgram-listen.ts';

/** Deepgram. A model of theirs is a family of voices, or one voice, such as `aura-2-thalia-en`. */
export const deepgram = fromSpeechSdk('deepgram', {
  origin: 'https://api.deepgram.com',
  models: ['aura-2', 'aura'],
  voice: 'asteria', // in both families
  formats: { mp3: 'mp3', opus: 'opus', wav: 'wav', aac: 'aac', flac: 'flac', pcm: 'pcm' },
  // Not `callback`: it would send the audio to an address that the client chooses.
  options: ['bitRate', 'mipOptOut', 'tag'],

  listen: deepgramListen,

  async open(connection) {
    const { createDeepgram } = await import('@ai-sdk/deepgram');
    return createDeepgram(connection).speech;
  },
});
