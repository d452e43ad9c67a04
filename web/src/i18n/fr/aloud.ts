import type { Words } from '../dictionary.ts';
import type { aloud as english } from '../en/aloud.ts';

export const aloud: Words<typeof english> = {
  read: 'Lire à voix haute',
  stop: 'Arrêter la lecture',
  pause: 'Pause',
  resume: 'Reprendre',
  reading: 'Lecture à voix haute',
  sentence: 'Phrase {at} sur {count}',
  nothing: 'Il n’y a rien à lire ici.',
  noVoice: 'Aucune voix n’est disponible : ni le serveur ni ce navigateur n’en offrent.',
  failed: 'La lecture a échoué. {reason}',
};
