import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from '../../components/IconButton.tsx';
import { toast } from '../../components/toast.ts';
import { spoken, t } from '../../i18n/index.ts';
import { withPlayer } from '../aloud/read.ts';
import { aloud } from '../aloud/state.ts';

/** What is used of https://webaudio.github.io/web-speech-api/, which not all browsers have. */
interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  start(): void;
  stop(): void;
  /** As `stop`, without a last result. */
  abort(): void;
}

interface RecognitionResults extends Event {
  readonly results: ArrayLike<ArrayLike<{ readonly transcript: string }> & { readonly isFinal: boolean }>;
}

function recognition(): (new () => Recognition) | undefined {
  const scope = globalThis as {
    SpeechRecognition?: new () => Recognition;
    webkitSpeechRecognition?: new () => Recognition;
  };
  return scope.SpeechRecognition ?? scope.webkitSpeechRecognition;
}

/** What no permission helps against: Chromium and others without a service of their own say `network`. */
const NOT_RECOGNISED: ReadonlySet<string | undefined> = new Set([
  'network',
  'service-not-allowed',
  'language-not-supported',
]);

export interface VoiceButtonProps {
  readonly text: string;
  readonly setText: (text: string) => void;
}

/** Writes down what is said, where the browser can. */
export function VoiceButton({ text, setText }: VoiceButtonProps) {
  const [isOn, setOn] = useState(false);
  const running = useRef<Recognition | undefined>(undefined);
  const shown = useRef(text);
  shown.current = text;
  useLayoutEffect(() => {
    // Sent: the rest of what was said belongs to that message, and not to the next one.
    if (text === '') running.current?.abort();
  }, [text]);
  useEffect(() => {
    let wasHeard = isHeard();
    const end = aloud.subscribe(() => {
      const isBegun = isHeard() && !wasHeard;
      wasHeard = isHeard();
      if (isBegun) running.current?.stop();
    });
    return () => {
      end();
      running.current?.abort();
    };
  }, []);
  const Recognizer = recognition();
  if (Recognizer === undefined) return null;

  const start = (): void => {
    const listening = new Recognizer();
    listening.lang = navigator.languages.find((tag) => tag.startsWith(spoken())) ?? spoken();
    listening.continuous = true;
    listening.interimResults = true;
    let before = spaced(text);
    let written = text;
    let said = '';
    /** So much of what was said is part of `before`. */
    let taken = 0;
    listening.addEventListener('result', (event) => {
      const { results } = event as RecognitionResults;
      // Somebody has typed meanwhile: that stays, and what is said from now on comes behind it.
      if (shown.current !== written) {
        before = spaced(shown.current);
        taken = said.length;
      }
      said = Array.from(results, (result) => result[0]?.transcript ?? '').join('');
      written = before + said.slice(taken).trimStart();
      setText(written);
    });
    listening.addEventListener('error', (event) => {
      const { error } = event as Event & { error?: string };
      if (error === 'no-speech' || error === 'aborted') return;
      toast(t(NOT_RECOGNISED.has(error) ? 'composer.noRecognition' : 'composer.noVoice'));
    });
    listening.addEventListener('end', () => {
      running.current = undefined;
      setOn(false);
    });
    // It would be written down as well.
    if (isHeard()) withPlayer(({ stopReading }) => stopReading());
    running.current = listening;
    setOn(true);
    listening.start();
  };
  return (
    <IconButton
      icon="mic"
      id="voice"
      class={isOn ? 'is-recording' : ''}
      aria-pressed={isOn}
      label={t(isOn ? 'composer.stopVoice' : 'composer.voice')}
      onClick={() => (isOn ? running.current?.stop() : start())}
    />
  );
}

/** Whether something is being read aloud, or about to be. */
function isHeard(): boolean {
  const reading = aloud.get();
  return reading !== undefined && reading.phase !== 'paused';
}

/** Ready for further words. */
function spaced(text: string): string {
  return text === '' || /\s$/.test(text) ? text : `${text} `;
}
