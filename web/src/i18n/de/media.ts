import type { Words } from '../dictionary.ts';
import type { media as english } from '../en/media.ts';

export const media: Words<typeof english> = {
  title: 'Medien',
  search: 'In den Beschreibungen suchen',
  kinds: 'Was gezeigt wird',
  all: 'Alle',
  image: 'Bilder',
  audio: 'Töne',
  video: 'Videos',
  attached: 'Angehängte Dateien',
  hint: 'Was der Server von Antworten aufhebt, von allen, die ihn nutzen.',
  attachedHint: 'Dateien, die in diesem Browser an Nachrichten gehängt wurden. Sie liegen auf dem Server.',
  empty: 'Noch keine Bilder, Töne oder Videos. Sie erscheinen hier, sobald ein Modell welche macht.',
  emptyAttached: 'Noch wurde keine Datei angehängt.',
  unreadable: 'Der Browser konnte nicht lesen, welche Dateien angehängt wurden.',
  nothing: 'Nichts passt.',
  loading: 'Wird geladen …',
  more: 'Mehr zeigen',
  viewer: '{name}, {at} von {count}',
  before: 'Vorheriges',
  after: 'Nächstes',
  download: 'Herunterladen',
  delete: 'Löschen',
  deleteTitle: 'Diese Datei löschen?',
  deleteSure:
    '„{name}“ wird auf dem Server endgültig gelöscht. Nachrichten, die es zeigen, haben es von da an nicht mehr.',
  deleted: '„{name}“ wurde gelöscht.',
  gone: 'Diese Datei ist nicht mehr auf dem Server.',
  copyAddress: 'Adresse kopieren',
  keys: 'Pfeiltasten: vorheriges und nächstes. Entf: löschen.',
};
