import type { Words } from '../dictionary.ts';
import type { welcome as english } from '../en/welcome.ts';

export const welcome: Words<typeof english> = {
  title: 'Que voulez-vous savoir ?',
  noModels:
    'Aucun modèle n’est encore joignable. Saisissez la clé d’un fournisseur dans les réglages, ou lancez un serveur local comme Ollama.',
  providers: 'Fournisseurs et modèles',
  models: { one: '{count} modèle', other: '{count} modèles' },
  noneListed: 'Aucun modèle : voir pourquoi',
  demo: 'Le modèle intégré tourne sur cet ordinateur, sans clé. C’est une petite démo : il se trompe et sait peu de choses.',
  addModels:
    'Saisissez la clé d’un fournisseur dans les réglages, ou lancez Sluice avec elle, et ses modèles apparaîtront ici :',
  code: 'L’utiliser depuis votre code',
  codeHint: 'Donnez cette URL de base à n’importe quel client OpenAI :',
  copyAddress: 'Copier l’adresse',
  copyCommand: 'Copier la commande',
};
