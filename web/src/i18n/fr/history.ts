import type { history as english } from '../en/history.ts';
import type { Words } from '../index.ts';

export const history: Words<typeof english> = {
  title: 'Tous les chats',
  search: 'Chercher dans les chats',
  searchHint: 'Titres et messages',
  count: { one: '{count} chat', other: '{count} chats' },
  found: { one: '{count} chat trouvé', other: '{count} chats trouvés' },
  searching: 'Recherche…',
  nothing: 'Aucun chat ne contient tous ces mots.',
  nothingHere: 'Il n’y a aucun chat ici.',
  allFolders: 'Tous les dossiers',
  noFolder: 'Sans dossier',
  folder: 'Dossier',
  tags: 'Étiquettes',
  select: 'Sélectionner « {title} »',
  selectAll: 'Tout sélectionner',
  selected: { one: '{count} sélectionné', other: '{count} sélectionnés' },
  clearSelection: 'Annuler la sélection',
  organise: 'Dossier et étiquettes…',
  organiseTitle: 'Dossier et étiquettes',
  folderHint: 'Choisissez un dossier ou écrivez le nom d’un nouveau. Vide : sans dossier.',
  addTag: 'Ajouter une étiquette',
  removeTag: 'Retirer l’étiquette « {tag} »',
  organised: { one: '{count} chat a été modifié.', other: '{count} chats ont été modifiés.' },
  more: 'Afficher plus',
  showAll: 'Tous les chats ({count})',
  deleteAll: 'Supprimer tous les chats',
  deleteAllSure:
    'Cela supprime définitivement tous les chats de ce navigateur et met fin au partage de ceux qui sont partagés. Dans le doute, exportez-les d’abord.',
  deletedAll: 'Tous les chats ont été supprimés.',
};
