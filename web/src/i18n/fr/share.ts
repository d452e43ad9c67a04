import type { Words } from '../dictionary.ts';
import type { share as english } from '../en/share.ts';

export const share: Words<typeof english> = {
  title: 'Partager cette discussion',
  share: 'Partager…',
  shared: 'Partagée',
  explain:
    'Quiconque a le lien et peut joindre ce serveur peut lire cette discussion et la voit avancer. Personne d’autre ne peut la modifier. Les fichiers joints ne sont pas montrés.',
  start: 'Créer un lien',
  link: 'Lien',
  copy: 'Copier le lien',
  open: 'Ouvrir le lien',
  stop: 'Ne plus partager',
  stopped: '« {title} » n’est plus partagée.',
  question: 'Question',
  reader: 'Discussion partagée',
  live: 'Cette page suit ce qui s’y écrit.',
  gone: 'Cette discussion n’est pas partagée, ou ne l’est plus.',
  ended: 'Cette discussion n’est plus partagée. Ce qui était là reste lisible jusqu’à votre départ.',
  lost: 'Le serveur ne répond pas. Nouvel essai…',
  continue: 'Continuer cette discussion',
  instructions: 'Instructions',
  notUpdated: 'La copie partagée de « {title} » n’a pas pu être mise à jour. {reason}',
};
