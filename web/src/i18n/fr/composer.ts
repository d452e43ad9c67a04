import type { Words } from '../dictionary.ts';
import type { composer as english } from '../en/composer.ts';

export const composer: Words<typeof english> = {
  message: 'Message',
  placeholder: 'Posez votre question',
  send: 'Envoyer',
  newLine: 'Nouvelle ligne',
  editLast: 'Modifier la dernière question, depuis le champ vide',
  focus: 'Aller au champ de message',
  attach: 'Joindre des fichiers',
  attached: 'Fichiers joints',
  detach: 'Retirer {name}',
  resend: 'Réessayer avec {name}',
  drop: 'Déposez les fichiers ici',
  manyFiles: 'Cela fait plus de {count} fichiers. Mettez-les dans une archive (zip), ou choisissez-en quelques-uns.',
  noFiles: 'Impossible de joindre des fichiers ici, seulement à une question.',
  uploading: 'Envoi…',
  converting: 'Lecture… {size}',
  text: '{size} de texte',
  noText: 'Ce fichier ne contient pas de texte.',
  failed: 'Ce fichier n’a pas pu être ajouté.',
  failedFile: '« {name} » n’a pas pu être ajouté. Retirez-le ou joignez-le à nouveau.',
  failedAgain: '« {name} » n’a pas pu être ajouté. Cliquez sur « Réessayer » à côté, ou retirez-le.',
  web: 'Recherche',
  webSearch: 'Chercher sur le web pour chaque question',
  voice: 'Parler au lieu d’écrire',
  stopVoice: 'Arrêter l’écoute',
  noRecognition:
    'La reconnaissance vocale du navigateur ne répond pas ou ne connaît pas cette langue. Tous les navigateurs n’en ont pas.',
  noVoice: 'Le micro est inutilisable. Vérifiez les autorisations du navigateur pour cette page.',
  commands: 'Commandes',
};
