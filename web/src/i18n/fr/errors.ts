import type { Words } from '../dictionary.ts';
import type { errors as english } from '../en/errors.ts';

export const errors: Words<typeof english> = {
  unreachable:
    'Sluice ne répond pas. Vérifiez votre connexion réseau et, dans le terminal où vous avez démarré Sluice, qu’il est toujours lancé, puis réessayez.',
  back: 'Sluice était injoignable et répond de nouveau.',
  cut: 'La connexion à Sluice s’est interrompue. Réessayez.',
  lost: 'Le serveur n’a plus la suite de cette réponse. Réessayez.',
  unauthorized: 'Ce serveur demande sa clé d’accès : ouvrez l’adresse que Sluice a affichée au démarrage.',
  key: 'Le fournisseur demande une clé ou refuse celle reçue. Saisissez-en une ici, ou mettez-la dans l’environnement ou sluice.yaml.',
  keyless:
    'Le fournisseur demande une clé, mais il est configuré sans. Ajoutez son apiKey dans le sluice.yaml du serveur.',
  cookies:
    'Le fournisseur demande des cookies ou refuse ceux qu’il a reçus. Connectez-vous-y avec un navigateur, puis envoyez ses cookies dans les réglages.',
  credit:
    'Il n’y a plus de crédit chez ce fournisseur. Rechargez-le, saisissez la clé d’un autre compte ou choisissez un autre modèle.',
  otherModel: 'Personne n’offre ce modèle pour l’instant. Choisissez-en un autre ci-dessus.',
  missing:
    'Un fichier de cette discussion n’est plus sur le serveur. Modifiez la question à laquelle il appartient et retirez-le.',
  notSupported: 'Ce modèle ne sait pas le faire. Choisissez-en un autre ci-dessus.',
  tooLarge:
    'C’est trop volumineux. Retirez un fichier ou commencez une nouvelle discussion : toute la conversation part avec chaque message.',
  rateLimited: 'Le fournisseur limite le nombre de demandes. Attendez un instant ou choisissez un autre modèle.',
  timeout: 'Le fournisseur a mis trop de temps. Réessayez ou choisissez un autre modèle.',
  upstream: 'Le fournisseur est injoignable, ou sa réponse s’est interrompue. Réessayez ou choisissez un autre modèle.',
  overloaded: 'Il y a trop de demandes en ce moment. Patientez un peu et réessayez.',
  refused:
    'Le modèle n’a pas accepté cette demande. D’autres réglages, une nouvelle discussion ou un autre modèle aident souvent.',
  storage: 'Le serveur n’a plus de place ou ne peut pas écrire sur son disque.',
  again: 'Réessayez ; le journal de Sluice en dit plus.',
};
