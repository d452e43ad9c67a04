import type { Words } from '../dictionary.ts';
import type { transfer as english } from '../en/transfer.ts';

export const transfer: Words<typeof english> = {
  import: 'Importer des discussions…',
  importTitle: 'Importer des discussions',
  importHint:
    'Exports de Sluice, ChatGPT, Claude, Open WebUI, LibreChat et chatbot-ui, en JSON ou dans l’archive ZIP d’origine. Ils restent dans ce navigateur.',
  choose: 'Choisir des fichiers',
  drop: 'ou déposez-les ici',
  reading: 'Lecture…',
  from: 'De {program}',
  imported: { one: '{count} discussion importée', other: '{count} discussions importées' },
  known: { one: '{count} était déjà là', other: '{count} étaient déjà là' },
  empty: { one: '{count} sans message', other: '{count} sans messages' },
  unknown: { one: '{count} entrée d’un genre inconnu', other: '{count} entrées d’un genre inconnu' },
  broken: { one: '{count} n’a pas pu être lue', other: '{count} n’ont pas pu être lues' },
  unread: {
    one: '{count} fichier de l’archive n’a pas pu être lu',
    other: '{count} fichiers de l’archive n’ont pas pu être lus',
  },
  leftOut: {
    one: '{count} image ou fichier manque dans l’export',
    other: '{count} images et fichiers manquent dans l’export',
  },
  cut: 'La dernière ligne est incomplète : le fichier s’arrête là.',
  notRead: 'Ce n’est ni du JSON ni une archive ZIP de fichiers JSON.',
  noChats: 'Il n’y a aucune discussion dans ce fichier.',
  refused: 'Le navigateur n’a pas voulu les garder. Il n’y a peut-être plus de place.',
  show: 'Afficher les discussions',
  export: 'Exporter',
  sources: 'Sources',
  exportMarkdown: 'Exporter en Markdown',
  exportJson: 'Exporter en JSON',
  exportAllMarkdown: 'Tout exporter en Markdown',
  exportAllJson: 'Tout exporter en JSON',
  exported: { one: '{count} discussion a été exportée.', other: '{count} discussions ont été exportées.' },
  nothing: 'Il n’y a encore rien à exporter.',
};
