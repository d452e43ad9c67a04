import type { Words } from '../dictionary.ts';
import type { voices as english } from '../en/voices.ts';

export const voices: Words<typeof english> = {
  hint: 'Las respuestas se leen con esta voz. El altavoz le hace decir una frase.',
  automatic: 'Automática',
  automaticHint: 'Una voz del servidor para tu idioma; si no, una del navegador',
  server: 'Del servidor: {provider}',
  browser: 'De este navegador',
  standard: 'Su voz habitual',
  local: 'se queda en este equipo',
  remote: 'el navegador envía el texto a su fabricante',
  listenTo: 'Escuchar {voice}',
  stop: 'Parar',
  sample: '¡Hola! Así sueno cuando te leo una respuesta.',
  other: 'Otra voz de {provider}',
  otherHint: 'Nombre o id en el proveedor',
  none: 'No hay ninguna voz disponible: ni el servidor ni este navegador ofrecen una.',
};
