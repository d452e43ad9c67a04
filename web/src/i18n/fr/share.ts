import type { Words } from '../dictionary.ts';
import type { share as english } from '../en/share.ts';

export const share: Words<typeof english> = {
  title: 'Partager ce chat',
  share: 'Partager…',
  shared: 'Partagé',
  explain:
    'Quiconque a le lien et peut joindre ce serveur peut lire ce chat et le voit avancer. Personne d’autre ne peut le modifier. Les fichiers joints ne sont pas montrés.',
  start: 'Créer un lien',
  link: 'Lien',
  copy: 'Copier le lien',
  open: 'Ouvrir le lien',
  stop: 'Ne plus partager',
  stopped: '« {title} » n’est plus partagé.',
  question: 'Question',
  reader: 'Chat partagé',
  live: 'Cette page suit ce qui s’y écrit.',
  gone: 'Ce chat n’est pas partagé, ou ne l’est plus.',
  ended: 'Ce chat n’est plus partagé. Ce qui était là reste lisible jusqu’à votre départ.',
  lost: 'Le serveur ne répond pas. Nouvel essai…',
  continue: 'Continuer ce chat',
  instructions: 'Instructions',
  notUpdated: 'La copie partagée de « {title} » n’a pas pu être mise à jour. {reason}',
};
