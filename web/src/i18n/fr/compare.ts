import type { Words } from '../dictionary.ts';
import type { compare as english } from '../en/compare.ts';

export const compare: Words<typeof english> = {
  title: 'Comparer',
  hint: 'Posez une question, les deux modèles répondent. Continuez avec celui que vous préférez.',
  side: 'Modèle {at}',
  alike: 'Les deux côtés sont le même modèle, qui répond deux fois.',
  goOn: 'Continuer avec celui-ci',
  again: 'Nouvelle comparaison',
  thisAnswer: 'Comparer avec un autre modèle',
};
