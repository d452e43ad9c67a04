import type { Words } from '../dictionary.ts';
import type { errors as english } from '../en/errors.ts';

export const errors: Words<typeof english> = {
  unreachable:
    'Sluice no responde. Comprueba tu conexión de red y, en la terminal donde iniciaste Sluice, que siga en marcha; luego vuelve a intentarlo.',
  back: 'Sluice no respondía y ahora vuelve a responder.',
  cut: 'Se cortó la conexión con Sluice. Vuelve a intentarlo.',
  lost: 'El servidor ya no tiene el resto de esta respuesta. Vuelve a intentarlo.',
  unauthorized: 'Este servidor pide su clave de acceso: abre la dirección que Sluice mostró al iniciar.',
  key: 'El proveedor pide una clave o rechaza la que recibió. Introdúcela aquí, o ponla en el entorno o en sluice.yaml.',
  keyless:
    'El proveedor pide una clave, pero está configurado sin ella. Añade su apiKey en el sluice.yaml del servidor.',
  cookies:
    'El proveedor pide cookies o rechaza las que recibió. Inicia sesión allí con un navegador y sube sus cookies en los ajustes.',
  credit: 'No queda saldo con este proveedor. Recárgalo allí, introduce la clave de otra cuenta o elige otro modelo.',
  otherModel: 'Nadie ofrece este modelo ahora. Elige otro en la lista de arriba.',
  missing: 'Un archivo de este chat ya no está en el servidor. Edita la pregunta a la que pertenece y quítalo allí.',
  notSupported: 'Este modelo no puede hacerlo. Elige otro en la lista de arriba.',
  tooLarge: 'Es demasiado. Quita un archivo o empieza un chat nuevo: con cada mensaje se envía toda la conversación.',
  rateLimited: 'El proveedor limita la frecuencia de las preguntas. Espera un momento o elige otro modelo.',
  timeout: 'El proveedor tardó demasiado. Reintenta o elige otro modelo.',
  upstream: 'No se puede contactar con el proveedor o su respuesta se cortó. Reintenta o elige otro modelo.',
  overloaded: 'Hay demasiada carga ahora. Espera un poco y reintenta.',
  refused:
    'El modelo no aceptó esta petición. Suele ayudar cambiar los ajustes, empezar otro chat o elegir otro modelo.',
  storage: 'El servidor no tiene espacio o no puede escribir en su disco.',
  again: 'Reintenta; el registro de Sluice dice más.',
};
