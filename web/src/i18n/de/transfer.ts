import type { Words } from '../dictionary.ts';
import type { transfer as english } from '../en/transfer.ts';

export const transfer: Words<typeof english> = {
  import: 'Chats importieren …',
  importTitle: 'Chats importieren',
  importHint:
    'Exporte von Sluice, ChatGPT, Claude, Open WebUI, LibreChat und chatbot-ui, als JSON oder in dem ZIP-Archiv, in dem sie kamen. Sie bleiben in diesem Browser.',
  choose: 'Dateien wählen',
  drop: 'oder hier ablegen',
  reading: 'Wird gelesen …',
  from: 'Aus {program}',
  imported: { one: '{count} Chat importiert', other: '{count} Chats importiert' },
  known: { one: '{count} war schon hier', other: '{count} waren schon hier' },
  empty: { one: '{count} ohne Nachrichten', other: '{count} ohne Nachrichten' },
  unknown: { one: '{count} Eintrag unbekannter Art', other: '{count} Einträge unbekannter Art' },
  broken: { one: '{count} war nicht lesbar', other: '{count} waren nicht lesbar' },
  unread: {
    one: '{count} Datei im Archiv war nicht lesbar',
    other: '{count} Dateien im Archiv waren nicht lesbar',
  },
  leftOut: { one: '{count} Bild oder Datei fehlt im Export', other: '{count} Bilder und Dateien fehlen im Export' },
  cut: 'Die letzte Zeile ist unvollständig: Dort bricht die Datei ab.',
  notRead: 'Das ist weder JSON noch ein ZIP-Archiv mit JSON-Dateien.',
  noChats: 'In dieser Datei sind keine Chats.',
  refused: 'Der Browser wollte sie nicht speichern. Vielleicht ist kein Platz mehr.',
  show: 'Chats zeigen',
  export: 'Exportieren',
  sources: 'Quellen',
  exportMarkdown: 'Als Markdown exportieren',
  exportJson: 'Als JSON exportieren',
  exportAllMarkdown: 'Alle als Markdown exportieren',
  exportAllJson: 'Alle als JSON exportieren',
  exported: { one: '{count} Chat wurde exportiert.', other: '{count} Chats wurden exportiert.' },
  nothing: 'Es gibt noch nichts zu exportieren.',
};
