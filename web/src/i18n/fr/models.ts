import type { Words } from '../dictionary.ts';
import type { models as english } from '../en/models.ts';

export const models: Words<typeof english> = {
  automatic: 'Automatique',
  automaticHint: 'Le premier fournisseur qui peut répondre',
  loading: 'Chargement des modèles…',
  model: 'Modèle :',
  models: 'Modèles',
  search: 'Chercher un modèle',
  favourites: 'Favoris',
  favourite: 'Favori',
  toggleFavourite: 'Ajouter ce modèle aux favoris, ou l’en retirer',
  notListed: 'Hors liste',
  gone: 'indisponible pour le moment',
  askForName: 'Demander ce nom',
  vision: 'Voit les images',
  image: 'Crée des images',
  audio: 'Parle',
  video: 'Crée des vidéos',
  tools: 'Utilise des outils',
  reasoning: 'Réfléchit avant de répondre',
  context: 'Lit jusqu’à {count} jetons',
  price: '{input} par million de jetons de la question, {output} de la réponse (dollars)',
  recent: 'Récents',
  waiting: 'Avec votre propre clé',
  enterKey: 'Saisir une clé',
  abilities: 'Ce que le modèle doit savoir faire',
};
