import type { Words } from '../dictionary.ts';
import type { welcome as english } from '../en/welcome.ts';

export const welcome: Words<typeof english> = {
  title: 'Was möchtest du wissen?',
  noModels:
    'Noch ist kein Modell erreichbar. Gib in den Einstellungen den Schlüssel eines Anbieters ein, oder starte einen lokalen Server wie Ollama.',
  providers: 'Anbieter und Modelle',
  models: { one: '{count} Modell', other: '{count} Modelle' },
  noneListed: 'Keine Modelle: warum?',
  demo: 'Das eingebaute Modell läuft auf diesem Rechner, ganz ohne Schlüssel. Es ist eine kleine Demo: Es macht Fehler und weiß wenig.',
  addModels:
    'Gib in den Einstellungen den Schlüssel eines Anbieters ein, oder starte Sluice mit ihm, dann stehen dessen Modelle hier:',
  code: 'Aus eigenen Programmen nutzen',
  codeHint: 'Gib einem beliebigen OpenAI-Client diese Basisadresse:',
  copyAddress: 'Adresse kopieren',
  copyCommand: 'Befehl kopieren',
};
