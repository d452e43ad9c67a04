import type { Words } from '../dictionary.ts';
import type { prompts as english } from '../en/prompts.ts';

export const prompts: Words<typeof english> = {
  title: 'Textes types',
  hint: 'Des textes pour commencer un message : tapez / et le nom dans le champ. Les modèles avec instructions et paramètres sont les',
  add: 'Nouveau texte',
  edit: 'Modifier le texte',
  editNamed: 'Modifier « {name} »',
  delete: 'Supprimer « {name} »',
  deleted: '« {name} » a été supprimé.',
  use: 'Commencer une discussion avec',
  search: 'Chercher un texte',
  empty: 'Pas encore de texte. Ce sont ceux que vous réutilisez, comme « Résume ceci en trois phrases : … ».',
  nothing: 'Aucun texte ne correspond.',
  name: 'Titre',
  slash: 'Nom après la barre oblique',
  slashHint: 'Dans le champ de message : /{name}',
  taken: '/{name} désigne déjà autre chose.',
  text: 'Texte',
  textHint:
    'Les mots entre doubles accolades sont demandés : {{topic}}, {{tone=friendly}}, {{length=short|long}}. {{date}}, {{time}} et {{language}} sont remplis.',
  variables: 'Sera demandé : {names}',
  preview: 'Texte entier',
  insert: 'Insérer',
  more: 'Emporter les textes',
  import: 'Importer…',
  export: 'Tout exporter',
  imported: { one: '{count} texte importé.', other: '{count} textes importés.' },
};
