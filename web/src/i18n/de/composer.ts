import type { Words } from '../dictionary.ts';
import type { composer as english } from '../en/composer.ts';

export const composer: Words<typeof english> = {
  message: 'Nachricht',
  placeholder: 'Frag etwas',
  send: 'Senden',
  newLine: 'Neue Zeile',
  editLast: 'Die letzte Frage bearbeiten, aus dem leeren Feld',
  focus: 'Zum Eingabefeld',
  attach: 'Dateien anhängen',
  attached: 'Angehängte Dateien',
  detach: '{name} entfernen',
  resend: '{name} noch einmal senden',
  drop: 'Dateien hier ablegen',
  manyFiles: 'Das sind mehr als {count} Dateien. Packe sie in ein Archiv (zip) oder wähle einige davon aus.',
  noFiles: 'Hier lassen sich keine Dateien anhängen, nur an eine Frage.',
  uploading: 'Wird gesendet …',
  converting: 'Wird gelesen … {size}',
  text: '{size} Text',
  noText: 'In dieser Datei ist kein Text.',
  failed: 'Diese Datei ließ sich nicht übernehmen.',
  failedFile: '„{name}“ ließ sich nicht übernehmen. Entferne die Datei oder hänge sie noch einmal an.',
  failedAgain: '„{name}“ ließ sich nicht übernehmen. Sende die Datei noch einmal oder entferne sie.',
  web: 'Suche',
  webSearch: 'Zu jeder Frage im Web suchen',
  voice: 'Sprechen statt tippen',
  stopVoice: 'Nicht mehr zuhören',
  noRecognition:
    'Die Spracherkennung des Browsers antwortet nicht oder kennt diese Sprache nicht. Nicht jeder Browser hat eine eigene.',
  noVoice: 'Das Mikrofon ist nicht nutzbar. Sieh nach, was der Browser dieser Seite erlaubt.',
  commands: 'Befehle',
};
