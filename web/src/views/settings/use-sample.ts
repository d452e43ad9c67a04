import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort, toFailure } from '../../api/http.ts';
import { toast } from '../../components/toast.ts';
import { spoken, t } from '../../i18n/index.ts';
import { sayHere, soundOf } from '../aloud/speak.ts';
import { partsOf } from '../aloud/voice.ts';
import { reasonOf } from '../chat/advice.ts';

/** What can be listened to, and what is. */
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

async function say(setting: string, text: string, signal: AbortSignal): Promise<void> {
  const { by, voice } = partsOf(setting);
  if (by === 'browser') {
    const own = speechSynthesis.getVoices().find(({ voiceURI }) => voiceURI === voice);
    return sayHere(text, { lang: own?.lang ?? spoken(), voice: own }, signal);
  }
  const url = URL.createObjectURL(await soundOf(by, voice, text, signal));
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
