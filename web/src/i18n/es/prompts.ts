import type { Words } from '../dictionary.ts';
import type { prompts as english } from '../en/prompts.ts';

export const prompts: Words<typeof english> = {
  title: 'Textos guardados',
  hint: 'Textos para empezar mensajes: escribe / y el nombre en el campo de mensaje. Los modelos con instrucciones y parámetros son',
  add: 'Nuevo texto',
  edit: 'Cambiar el texto',
  editNamed: 'Cambiar «{name}»',
  delete: 'Eliminar «{name}»',
  deleted: 'Se eliminó «{name}».',
  use: 'Empezar un chat con ello',
  search: 'Buscar textos',
  empty: 'Aún no hay textos. Son los que usas una y otra vez, como «Resume esto en tres frases: …».',
  nothing: 'Ningún texto coincide.',
  name: 'Título',
  slash: 'Nombre tras la barra',
  slashHint: 'En el campo de mensaje: /{name}',
  taken: '/{name} ya es otra cosa.',
  text: 'Texto',
  textHint:
    'Se pregunta por las palabras entre llaves dobles: {{topic}}, {{tone=friendly}}, {{length=short|long}}. {{date}}, {{time}} y {{language}} se rellenan solas.',
  variables: 'Se preguntará por: {names}',
  preview: 'Texto completo',
  insert: 'Insertar',
  more: 'Llevarse los textos',
  import: 'Importar…',
  export: 'Exportar todo',
  imported: { one: 'Se importó {count} texto.', other: 'Se importaron {count} textos.' },
};
