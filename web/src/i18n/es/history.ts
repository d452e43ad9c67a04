import type { history as english } from '../en/history.ts';
import type { Words } from '../index.ts';

export const history: Words<typeof english> = {
  title: 'Todos los chats',
  search: 'Buscar en los chats',
  searchHint: 'Títulos y mensajes',
  count: { one: '{count} chat', other: '{count} chats' },
  found: { one: '{count} chat encontrado', other: '{count} chats encontrados' },
  searching: 'Buscando…',
  nothing: 'Ningún chat contiene todas estas palabras.',
  nothingHere: 'Aquí no hay ningún chat.',
  allFolders: 'Todas las carpetas',
  noFolder: 'Sin carpeta',
  folder: 'Carpeta',
  tags: 'Etiquetas',
  select: 'Seleccionar «{title}»',
  selectAll: 'Seleccionar todo',
  selected: { one: '{count} seleccionado', other: '{count} seleccionados' },
  clearSelection: 'Quitar la selección',
  organise: 'Carpeta y etiquetas…',
  organiseTitle: 'Carpeta y etiquetas',
  folderHint: 'Elige una carpeta o escribe el nombre de una nueva. Vacío: sin carpeta.',
  addTag: 'Añadir una etiqueta',
  removeTag: 'Quitar la etiqueta «{tag}»',
  organised: { one: 'Se cambió {count} chat.', other: 'Se cambiaron {count} chats.' },
  more: 'Mostrar más',
  showAll: 'Todos los chats ({count})',
  deleteAll: 'Borrar todos los chats',
  deleteAllSure:
    'Esto borra para siempre todos los chats de este navegador y deja de compartir los compartidos. En caso de duda, expórtalos antes.',
  deletedAll: 'Se borraron todos los chats.',
};
