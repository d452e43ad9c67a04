import { synthesize } from '../../api/speech.ts';
import { app } from '../../state/app.ts';

/** The sound of a text, by a provider of the server, with the key that the settings hold for it. */
export function soundOf(provider: string, voice: string | undefined, text: string, signal: AbortSignal): Promise<Blob> {
  const key = app.get().settings.keys[provider];
  const own = { ...(voice === undefined ? {} : { voice }), ...(key === undefined ? {} : { key }) };
  return synthesize({ provider, text, ...own }, signal);
}

/** Resolves when the browser has said it, rejects when that fails, and with an AbortError when it is stopped. */
export function sayHere(
  text: string,
  { lang, voice }: { readonly lang: string; readonly voice: SpeechSynthesisVoice | undefined },
  signal: AbortSignal,
  onStart = (): void => {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const utterance = new SpeechSynthesisUtterance(text);
    utterance.lang = lang;
    utterance.voice = voice ?? null;
    utterance.addEventListener('start', onStart);
    utterance.addEventListener('end', () => resolve());
    utterance.addEventListener('error', ({ error }) => reject(new Error(error)));
    signal.addEventListener('abort', () => {
      speechSynthesis.cancel();
      reject(new DOMException('stopped', 'AbortError'));
    });
    speechSynthesis.speak(utterance);
  });
}
