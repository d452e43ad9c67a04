import type { Words } from '../dictionary.ts';
import type { composer as english } from '../en/composer.ts';

export const composer: Words<typeof english> = {
  message: 'Mensaje',
  placeholder: 'Pregunta lo que quieras',
  send: 'Enviar',
  newLine: 'Nueva línea',
  editLast: 'Editar la última pregunta, desde el campo vacío',
  focus: 'Ir al campo de mensaje',
  attach: 'Adjuntar archivos',
  attached: 'Archivos adjuntos',
  detach: 'Quitar {name}',
  resend: 'Reintentar con {name}',
  drop: 'Suelta los archivos aquí',
  manyFiles: 'Son más de {count} archivos. Ponlos en un archivo comprimido (zip) o elige algunos.',
  noFiles: 'Aquí no se pueden adjuntar archivos, solo a una pregunta.',
  uploading: 'Enviando…',
  converting: 'Leyendo… {size}',
  text: '{size} de texto',
  noText: 'Este archivo no contiene texto.',
  failed: 'No se pudo incorporar el archivo.',
  failedFile: 'No se pudo incorporar «{name}». Quítalo o adjúntalo de nuevo.',
  failedAgain: 'No se pudo incorporar «{name}». Pulsa «Reintentar» a su lado o quítalo.',
  web: 'Buscar',
  webSearch: 'Buscar en la web para cada pregunta',
  voice: 'Hablar en vez de escribir',
  stopVoice: 'Dejar de escuchar',
  noRecognition:
    'El reconocimiento de voz del navegador no responde o no conoce este idioma. No todos los navegadores tienen uno propio.',
  noVoice: 'No se puede usar el micrófono. Revisa los permisos del navegador para esta página.',
  commands: 'Comandos',
};
