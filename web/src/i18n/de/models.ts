import type { Words } from '../dictionary.ts';
import type { models as english } from '../en/models.ts';

export const models: Words<typeof english> = {
  automatic: 'Automatisch',
  automaticHint: 'Der erste Anbieter, der antworten kann',
  loading: 'Modelle werden geladen …',
  model: 'Modell:',
  models: 'Modelle',
  search: 'Modelle suchen',
  favourites: 'Favoriten',
  favourite: 'Favorit',
  toggleFavourite: 'Dieses Modell zu den Favoriten, oder wieder heraus',
  notListed: 'Nicht in der Liste',
  gone: 'zurzeit nicht im Angebot',
  askForName: 'Nach diesem Namen fragen',
  vision: 'Sieht Bilder',
  image: 'Erzeugt Bilder',
  audio: 'Spricht',
  video: 'Erzeugt Video',
  tools: 'Benutzt Werkzeuge',
  reasoning: 'Denkt vor der Antwort nach',
  context: 'Liest bis zu {count} Tokens',
  price: '{input} für eine Million Tokens der Frage, {output} der Antwort (US-Dollar)',
  recent: 'Zuletzt benutzt',
  waiting: 'Mit einem eigenen Schlüssel',
  enterKey: 'Schlüssel eingeben',
  abilities: 'Was das Modell können soll',
};
