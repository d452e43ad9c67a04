import type { Words } from '../dictionary.ts';
import type { errors as english } from '../en/errors.ts';

export const errors: Words<typeof english> = {
  unreachable:
    'Sluice antwortet nicht. Prüfe deine Netzverbindung und im Terminal, in dem du Sluice gestartet hast, ob es noch läuft. Versuche es dann noch einmal.',
  back: 'Sluice war nicht zu erreichen und antwortet jetzt wieder.',
  cut: 'Die Verbindung zu Sluice ist abgerissen. Versuche es noch einmal.',
  lost: 'Der Server hat den Rest dieser Antwort nicht mehr. Versuche es noch einmal.',
  unauthorized: 'Dieser Server will seinen Zugangsschlüssel: Öffne die Adresse, die Sluice beim Start ausgegeben hat.',
  key: 'Der Anbieter will einen Schlüssel oder lehnt den bekommenen ab. Gib hier einen ein, oder lege ihn in die Umgebung oder in sluice.yaml.',
  keyless:
    'Der Anbieter will einen Schlüssel, ist aber ohne einen eingerichtet. Ergänze seinen apiKey in der sluice.yaml des Servers.',
  cookies:
    'Der Anbieter will Cookies oder lehnt die bekommenen ab. Melde dich dort mit einem Browser an, und lade dessen Cookies in den Einstellungen hoch.',
  credit:
    'Bei diesem Anbieter ist kein Guthaben mehr da. Lade es dort auf, gib den Schlüssel eines anderen Kontos ein oder wähle ein anderes Modell.',
  otherModel: 'Dieses Modell bietet gerade niemand an. Wähle oben ein anderes.',
  missing:
    'Eine Datei dieses Chats ist nicht mehr auf dem Server. Bearbeite die Frage, zu der sie gehört, und nimm sie dort heraus.',
  notSupported: 'Das kann dieses Modell nicht. Wähle oben ein anderes.',
  tooLarge:
    'Das ist mehr, als hineinpasst. Entferne eine Datei oder beginne einen neuen Chat: Mit jeder Nachricht geht die ganze Unterhaltung mit.',
  rateLimited:
    'Der Anbieter begrenzt, wie oft er gefragt werden darf. Warte einen Moment oder wähle ein anderes Modell.',
  timeout: 'Der Anbieter hat zu lange gebraucht. Versuche es noch einmal oder wähle ein anderes Modell.',
  upstream:
    'Der Anbieter ist nicht erreichbar, oder seine Antwort brach ab. Versuche es noch einmal oder wähle ein anderes Modell.',
  overloaded: 'Gerade ist zu viel los. Warte ein wenig und versuche es noch einmal.',
  refused:
    'Das Modell hat diese Anfrage nicht angenommen. Oft helfen andere Einstellungen, ein neuer Chat oder ein anderes Modell.',
  storage: 'Der Server hat keinen Platz mehr oder kann nicht auf seine Platte schreiben.',
  again: 'Versuche es noch einmal; im Protokoll von Sluice steht mehr.',
};
