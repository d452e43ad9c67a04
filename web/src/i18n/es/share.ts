import type { Words } from '../dictionary.ts';
import type { share as english } from '../en/share.ts';

export const share: Words<typeof english> = {
  title: 'Compartir este chat',
  share: 'Compartir…',
  shared: 'Compartido',
  explain:
    'Quien tenga el enlace y llegue a este servidor puede leer este chat y ve cómo continúa. Nadie más puede cambiarlo. Los archivos adjuntos no se muestran.',
  start: 'Crear un enlace',
  link: 'Enlace',
  copy: 'Copiar el enlace',
  open: 'Abrir el enlace',
  stop: 'Dejar de compartir',
  stopped: '«{title}» ya no se comparte.',
  question: 'Pregunta',
  reader: 'Chat compartido',
  live: 'Esta página sigue lo que se escribe allí.',
  gone: 'Este chat no se comparte, o ya no.',
  ended: 'Este chat ya no se comparte. Lo que había se puede leer hasta que salgas.',
  lost: 'El servidor no responde. Nuevo intento…',
  continue: 'Continuar este chat',
  instructions: 'Instrucciones',
  notUpdated: 'No se pudo actualizar la copia compartida de «{title}». {reason}',
};
