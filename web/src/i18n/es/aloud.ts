import type { Words } from '../dictionary.ts';
import type { aloud as english } from '../en/aloud.ts';

export const aloud: Words<typeof english> = {
  read: 'Leer en voz alta',
  stop: 'Dejar de leer',
  pause: 'Pausa',
  resume: 'Seguir',
  reading: 'Leyendo en voz alta',
  sentence: 'Frase {at} de {count}',
  nothing: 'Aquí no hay nada que leer.',
  noVoice: 'No hay ninguna voz disponible: ni el servidor ni este navegador ofrecen una.',
  failed: 'No se pudo leer en voz alta. {reason}',
};
