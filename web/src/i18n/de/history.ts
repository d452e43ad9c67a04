import type { history as english } from '../en/history.ts';
import type { Words } from '../index.ts';

export const history: Words<typeof english> = {
  title: 'Alle Chats',
  search: 'Chats durchsuchen',
  searchHint: 'Titel und Nachrichten',
  count: { one: '{count} Chat', other: '{count} Chats' },
  found: { one: '{count} Chat gefunden', other: '{count} Chats gefunden' },
  searching: 'Suche läuft …',
  nothing: 'Kein Chat enthält alle diese Wörter.',
  nothingHere: 'Hier ist kein Chat.',
  allFolders: 'Alle Ordner',
  noFolder: 'Ohne Ordner',
  folder: 'Ordner',
  tags: 'Schlagwörter',
  select: '„{title}“ auswählen',
  selectAll: 'Alle auswählen',
  selected: { one: '{count} ausgewählt', other: '{count} ausgewählt' },
  clearSelection: 'Auswahl aufheben',
  organise: 'Ordner und Schlagwörter …',
  organiseTitle: 'Ordner und Schlagwörter',
  folderHint: 'Wähle einen Ordner oder gib einem neuen einen Namen. Leer: kein Ordner.',
  addTag: 'Schlagwort hinzufügen',
  removeTag: 'Schlagwort „{tag}“ entfernen',
  organised: { one: '{count} Chat wurde geändert.', other: '{count} Chats wurden geändert.' },
  more: 'Mehr zeigen',
  showAll: 'Alle Chats ({count})',
  deleteAll: 'Alle Chats löschen',
  deleteAllSure:
    'Das löscht alle Chats dieses Browsers endgültig und beendet das Teilen der geteilten. Exportiere sie im Zweifel vorher.',
  deletedAll: 'Alle Chats wurden gelöscht.',
};
