import type { Words } from '../dictionary.ts';
import type { aloud as english } from '../en/aloud.ts';

export const aloud: Words<typeof english> = {
  read: 'Vorlesen',
  stop: 'Vorlesen beenden',
  pause: 'Anhalten',
  resume: 'Weiter',
  reading: 'Vorlesen',
  sentence: 'Satz {at} von {count}',
  nothing: 'Hier gibt es nichts vorzulesen.',
  noVoice: 'Es ist keine Stimme erreichbar: Weder der Server noch dieser Browser bietet eine an.',
  failed: 'Das Vorlesen ist gescheitert. {reason}',
};
