/** Around an answer that is read aloud. */
export const aloud = {
  read: 'Read aloud',
  stop: 'Stop reading aloud',
  pause: 'Pause',
  resume: 'Go on',
  reading: 'Reading aloud',
  sentence: 'Sentence {at} of {count}',
  nothing: 'There is nothing here to read aloud.',
  noVoice: 'No voice can be reached: the server offers none, and neither does this browser.',
  failed: 'Reading aloud failed. {reason}',
};
