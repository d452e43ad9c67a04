import type { Words } from '../dictionary.ts';
import type { share as english } from '../en/share.ts';

export const share: Words<typeof english> = {
  title: 'Diesen Chat teilen',
  share: 'Teilen …',
  shared: 'Geteilt',
  explain:
    'Wer den Link hat und diesen Server erreicht, kann diesen Chat lesen und sieht, wie er weitergeht. Niemand sonst kann ihn ändern. Angehängte Dateien werden nicht gezeigt.',
  start: 'Link erzeugen',
  link: 'Link',
  copy: 'Link kopieren',
  open: 'Link öffnen',
  stop: 'Nicht mehr teilen',
  stopped: '„{title}“ wird nicht mehr geteilt.',
  question: 'Frage',
  reader: 'Geteilter Chat',
  live: 'Diese Seite zeigt laufend, was dort geschrieben wird.',
  gone: 'Dieser Chat wird nicht oder nicht mehr geteilt.',
  ended: 'Dieser Chat wird nicht mehr geteilt. Was da war, bleibt lesbar, bis du die Seite verlässt.',
  lost: 'Der Server antwortet nicht. Neuer Versuch …',
  continue: 'Diesen Chat fortsetzen',
  instructions: 'Anweisungen',
  notUpdated: 'Die geteilte Fassung von „{title}“ ließ sich nicht auf den neuesten Stand bringen. {reason}',
};
