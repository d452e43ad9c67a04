/** The voices among the settings. */
export const voices = {
  hint: 'Answers are read aloud with this voice. The loudspeaker lets it say a sentence.',
  automatic: 'Automatic',
  automaticHint: 'A voice of the server for your language, else one of the browser',
  server: 'Of the server: {provider}',
  browser: 'Of this browser',
  standard: 'Its usual voice',
  local: 'stays on this computer',
  remote: 'the browser sends the text to its maker',
  listenTo: 'Listen to {voice}',
  stop: 'Stop',
  sample: 'Hello! This is how I sound when I read an answer to you.',
  other: 'Another voice of {provider}',
  otherHint: 'Its name or id at the provider',
  none: 'No voice can be reached: the server offers none, and neither does this browser.',
};
