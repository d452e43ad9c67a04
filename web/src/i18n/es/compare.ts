import type { Words } from '../dictionary.ts';
import type { compare as english } from '../en/compare.ts';

export const compare: Words<typeof english> = {
  title: 'Comparar',
  hint: 'Pregunta una vez y responden ambos modelos. Sigue con el que más te guste.',
  side: 'Modelo {at}',
  alike: 'Ambos lados son el mismo modelo, que responde dos veces.',
  goOn: 'Seguir con este',
  again: 'Nueva comparación',
  thisAnswer: 'Comparar con otro modelo',
};
