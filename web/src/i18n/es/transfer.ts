import type { Words } from '../dictionary.ts';
import type { transfer as english } from '../en/transfer.ts';

export const transfer: Words<typeof english> = {
  import: 'Importar chats…',
  importTitle: 'Importar chats',
  importHint:
    'Exportaciones de Sluice, ChatGPT, Claude, Open WebUI, LibreChat y chatbot-ui, como JSON o en el archivo ZIP en que llegaron. Se quedan en este navegador.',
  choose: 'Elegir archivos',
  drop: 'o suéltalos aquí',
  reading: 'Leyendo…',
  from: 'De {program}',
  imported: { one: '{count} chat importado', other: '{count} chats importados' },
  known: { one: '{count} ya estaba aquí', other: '{count} ya estaban aquí' },
  empty: { one: '{count} sin mensajes', other: '{count} sin mensajes' },
  unknown: { one: '{count} entrada de tipo desconocido', other: '{count} entradas de tipo desconocido' },
  broken: { one: '{count} no se pudo leer', other: '{count} no se pudieron leer' },
  unread: {
    one: 'No se pudo leer {count} archivo del ZIP',
    other: 'No se pudieron leer {count} archivos del ZIP',
  },
  leftOut: {
    one: '{count} imagen o archivo no está en la exportación',
    other: '{count} imágenes y archivos no están en la exportación',
  },
  cut: 'La última línea está incompleta: el archivo se corta ahí.',
  notRead: 'Esto no es JSON ni un archivo ZIP con archivos JSON.',
  noChats: 'No hay chats en este archivo.',
  refused: 'El navegador no quiso guardarlos. Quizá ya no queda espacio.',
  show: 'Mostrar los chats',
  export: 'Exportar',
  sources: 'Fuentes',
  exportMarkdown: 'Exportar como Markdown',
  exportJson: 'Exportar como JSON',
  exportAllMarkdown: 'Exportar todo como Markdown',
  exportAllJson: 'Exportar todo como JSON',
  exported: { one: 'Se exportó {count} chat.', other: 'Se exportaron {count} chats.' },
  nothing: 'Todavía no hay nada que exportar.',
};
