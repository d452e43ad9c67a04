import type { Words } from '../dictionary.ts';
import type { models as english } from '../en/models.ts';

export const models: Words<typeof english> = {
  automatic: 'Automático',
  automaticHint: 'El primer proveedor que pueda responder',
  loading: 'Cargando modelos…',
  model: 'Modelo:',
  models: 'Modelos',
  search: 'Buscar modelos',
  favourites: 'Favoritos',
  favourite: 'Favorito',
  toggleFavourite: 'Marcar o desmarcar este modelo como favorito',
  notListed: 'No está en la lista',
  gone: 'no disponible ahora',
  askForName: 'Pedir este nombre',
  vision: 'Ve imágenes',
  image: 'Crea imágenes',
  audio: 'Habla',
  video: 'Crea vídeo',
  tools: 'Usa herramientas',
  reasoning: 'Piensa antes de responder',
  context: 'Lee hasta {count} tokens',
  price: '{input} por millón de tokens de la pregunta, {output} de la respuesta (dólares)',
  recent: 'Recientes',
  waiting: 'Con una clave tuya',
  enterKey: 'Introducir una clave',
  abilities: 'Qué debe saber hacer el modelo',
};
