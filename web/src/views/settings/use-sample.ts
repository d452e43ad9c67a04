import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort, toFailure } from '../../api/http.ts';
import { synthesize } from '../../api/speech.ts';
import { toast } from '../../components/toast.ts';
import { spoken, t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { reasonOf } from '../chat/advice.ts';

export interface Sample {
  /** The voice that is being heard, as in the settings. */
  readonly playing: string | undefined;
  readonly listen: (voice: string) => void;
  readonly stop: () => void;
}

/** Lets voices say a sentence, one at a time. */
export function useSample(): Sample {
  const [playing, setPlaying] = useState<string>();
  const leaving = useRef(new AbortController());
  const stop = (): void => {
    leaving.current.abort();
    setPlaying(undefined);
  };
  useEffect(() => () => leaving.current.abort(), []);
  const listen = async (voice: string): Promise<void> => {
    stop();
    const own = new AbortController();
    leaving.current = own;
    setPlaying(voice);
    try {
      await say(voice, t('voices.sample'), own.signal);
    } catch (thrown) {
      if (isAbort(thrown) || own.signal.aborted) return;
      toast(t('aloud.failed', { reason: reasonOf(toFailure(thrown)) }));
    } finally {
      if (leaving.current === own) setPlaying(undefined);
    }
  };
  return { playing, listen: (voice) => void listen(voice), stop };
}

async function say(voice: string, text: string, signal: AbortSignal): Promise<void> {
  const slash = voice.indexOf('/');
  const by = slash === -1 ? voice : voice.slice(0, slash);
  const name = slash === -1 ? undefined : voice.slice(slash + 1);
  if (by === 'browser') return sayHere(name, text, signal);
  const key = app.get().settings.keys[by];
  const query = { provider: by, text, ...(name === undefined ? {} : { voice: name }) };
  const url = URL.createObjectURL(await synthesize({ ...query, ...(key === undefined ? {} : { key }) }, signal));
  try {
    await play(url, signal);
  } finally {
    URL.revokeObjectURL(url);
  }
}

function play(url: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const audio = new Audio(url);
    audio.addEventListener('ended', () => resolve());
    audio.addEventListener('error', () => reject(new Error(audio.error?.message ?? '')));
    signal.addEventListener('abort', () => {
      audio.pause();
      reject(new DOMException('stopped', 'AbortError'));
    });
    audio.play().catch(reject);
  });
}

function sayHere(uri: string | undefined, text: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const utterance = new SpeechSynthesisUtterance(text);
    const voice = speechSynthesis.getVoices().find(({ voiceURI }) => voiceURI === uri);
    utterance.lang = voice?.lang ?? spoken();
    utterance.voice = voice ?? null;
    utterance.addEventListener('end', () => resolve());
    utterance.addEventListener('error', ({ error }) => reject(new Error(error)));
    signal.addEventListener('abort', () => {
      speechSynthesis.cancel();
      reject(new DOMException('stopped', 'AbortError'));
    });
    speechSynthesis.speak(utterance);
  });
}
