import type { Words } from '../dictionary.ts';
import type { compare as english } from '../en/compare.ts';

export const compare: Words<typeof english> = {
  title: 'Vergleichen',
  hint: 'Frage einmal, und beide Modelle antworten. Mach mit dem weiter, das dir besser gefällt.',
  side: 'Modell {at}',
  alike: 'Auf beiden Seiten ist dasselbe Modell, das zweimal antwortet.',
  goOn: 'Mit diesem weiter',
  again: 'Neuer Vergleich',
  thisAnswer: 'Mit einem anderen Modell vergleichen',
};
