import type { Words } from '../dictionary.ts';
import type { prompts as english } from '../en/prompts.ts';

export const prompts: Words<typeof english> = {
  title: 'Textbausteine',
  hint: 'Texte, mit denen Nachrichten beginnen: Tippe / und den Namen ins Eingabefeld. Modelle mit Anweisungen und Parametern sind',
  add: 'Neuer Textbaustein',
  edit: 'Textbaustein ändern',
  editNamed: '„{name}“ ändern',
  delete: '„{name}“ löschen',
  deleted: '„{name}“ wurde gelöscht.',
  use: 'Einen Chat damit beginnen',
  search: 'Textbausteine suchen',
  empty:
    'Noch keine Textbausteine. Das sind Texte, die du immer wieder brauchst, etwa „Fasse das in drei Sätzen zusammen: …“.',
  nothing: 'Kein Textbaustein passt.',
  name: 'Titel',
  slash: 'Name hinter dem Schrägstrich',
  slashHint: 'Im Eingabefeld: /{name}',
  taken: '/{name} ist schon etwas anderes.',
  text: 'Text',
  textHint:
    'Nach Wörtern in doppelten Klammern wird gefragt: {{topic}}, {{tone=friendly}}, {{length=short|long}}. {{date}}, {{time}} und {{language}} werden eingesetzt.',
  variables: 'Danach wird gefragt: {names}',
  preview: 'Ganzer Text',
  insert: 'Einfügen',
  more: 'Textbausteine mitnehmen',
  import: 'Importieren …',
  export: 'Alle exportieren',
  imported: { one: '{count} Textbaustein wurde importiert.', other: '{count} Textbausteine wurden importiert.' },
};
