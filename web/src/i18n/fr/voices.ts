import type { Words } from '../dictionary.ts';
import type { voices as english } from '../en/voices.ts';

export const voices: Words<typeof english> = {
  hint: 'Les réponses sont lues avec cette voix. Le haut-parleur lui fait dire une phrase.',
  automatic: 'Automatique',
  automaticHint: 'Une voix du serveur pour votre langue, sinon une du navigateur',
  server: 'Du serveur : {provider}',
  browser: 'De ce navigateur',
  standard: 'Sa voix habituelle',
  local: 'reste sur cet ordinateur',
  remote: 'le navigateur envoie le texte à son éditeur',
  listenTo: 'Écouter {voice}',
  stop: 'Arrêter',
  sample: 'Bonjour ! Voici ma voix quand je vous lis une réponse.',
  other: 'Une autre voix de {provider}',
  otherHint: 'Nom ou id chez le fournisseur',
  none: 'Aucune voix n’est disponible : ni le serveur ni ce navigateur n’en offrent.',
};
