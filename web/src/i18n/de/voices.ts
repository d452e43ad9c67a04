import type { Words } from '../dictionary.ts';
import type { voices as english } from '../en/voices.ts';

export const voices: Words<typeof english> = {
  hint: 'Antworten werden mit dieser Stimme vorgelesen. Der Lautsprecher lässt sie einen Satz sagen.',
  automatic: 'Automatisch',
  automaticHint: 'Eine Stimme des Servers für deine Sprache, sonst eine des Browsers',
  server: 'Vom Server: {provider}',
  browser: 'Von diesem Browser',
  standard: 'Seine übliche Stimme',
  local: 'bleibt auf diesem Rechner',
  remote: 'der Browser sendet den Text an seinen Hersteller',
  listenTo: '{voice} anhören',
  stop: 'Anhalten',
  sample: 'Hallo! So klinge ich, wenn ich dir eine Antwort vorlese.',
  other: 'Eine andere Stimme von {provider}',
  otherHint: 'Name oder Kennung beim Anbieter',
  none: 'Es ist keine Stimme erreichbar: Weder der Server noch dieser Browser bietet eine an.',
};
