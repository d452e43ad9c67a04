import { isAbort, toFailure } from '../../api/http.ts';
import { toast } from '../../components/toast.ts';
import { spoken, t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { type Message, textOf } from '../../state/model.ts';
import { reasonOf } from '../chat/advice.ts';
import { sentencesOf } from './sentences.ts';
import { sayHere, soundOf } from './speak.ts';
import { aloud } from './state.ts';
import { speakersOf, type Voice, voiceOf } from './voice.ts';

/** Says one piece; resolves when it was said, rejects when that fails, and with an AbortError when it is stopped. */
interface Speaker {
  say(text: string, signal: AbortSignal): Promise<void>;
  /** Gets the sound of a later piece while another is being said. */
  prepare(text: string, signal: AbortSignal): void;
  pause(): void;
  resume(): void;
}

let leaving = new AbortController();
let speaker: Speaker | undefined;

/** Reads an answer aloud, from its begin; whatever was being read is no longer. */
export async function readAloud(message: Message): Promise<void> {
  stopReading();
  const { catalog, settings } = app.get();
  const hasBrowser = 'speechSynthesis' in globalThis && speechSynthesis.getVoices().length > 0;
  const voice = voiceOf(settings.voice, speakersOf(catalog), hasBrowser, spoken());
  if (voice === undefined) return toast(t('aloud.noVoice'));
  const sentences = sentencesOf(textOf(message), spoken());
  if (sentences.length === 0) return toast(t('aloud.nothing'));
  leaving = new AbortController();
  const { signal } = leaving;
  const own = voice.by === 'server' ? serverSpeaker(voice) : browserSpeaker(voice);
  speaker = own;
  // Whoever deletes it, or its chat, in whichever tab.
  const end = app.subscribe(() => {
    if (app.get().messages[message.chat]?.[message.id] === undefined && speaker === own) stopReading();
  });
  try {
    for (const [at, sentence] of sentences.entries()) {
      // Paused in the moment in which the one before was over: it stays so.
      const phase = aloud.get()?.phase === 'paused' ? 'paused' : 'loading';
      aloud.dispatch({ message: message.id, phase, at, count: sentences.length });
      const next = sentences[at + 1];
      const saying = own.say(sentence, signal);
      if (next !== undefined) own.prepare(next, signal);
      await saying;
    }
  } catch (thrown) {
    if (isAbort(thrown) || signal.aborted) return;
    toast(t('aloud.failed', { reason: reasonOf(toFailure(thrown)) }));
  } finally {
    end();
    // Unless the next one has begun already.
    if (speaker === own) stopReading();
  }
}

/** Ends it at once; where nothing is read, nothing happens. */
export function stopReading(): void {
  leaving.abort();
  speaker = undefined;
  aloud.dispatch(undefined);
}

/** Where nothing is read, nothing happens. */
export function pauseReading(): void {
  const reading = aloud.get();
  if (reading === undefined) return;
  speaker?.pause();
  aloud.dispatch({ ...reading, phase: 'paused' });
}

/** Goes on where it was paused. */
export function resumeReading(): void {
  const reading = aloud.get();
  if (reading === undefined) return;
  speaker?.resume();
  aloud.dispatch({ ...reading, phase: 'playing' });
}

/** From here on it can be heard; unless somebody paused it meanwhile. */
function begun(): void {
  const reading = aloud.get();
  if (reading?.phase === 'loading') aloud.dispatch({ ...reading, phase: 'playing' });
}

function serverSpeaker({ provider, voice }: Extract<Voice, { by: 'server' }>): Speaker {
  // One for all pieces: some browsers let a page play sound only from the element that a person has started.
  const audio = new Audio();
  const sounds = new Map<string, Promise<Blob>>();
  const begin = (text: string, signal: AbortSignal): Promise<Blob> => {
    let sound = sounds.get(text);
    if (sound === undefined) {
      sound = soundOf(provider, voice, text, signal);
      // Whoever waits for it hears of the failure; nobody else has to.
      sound.catch(() => {});
      sounds.set(text, sound);
    }
    return sound;
  };
  return {
    say: async (text, signal) => {
      const url = URL.createObjectURL(await begin(text, signal));
      sounds.delete(text);
      try {
        await play(audio, url, signal);
      } finally {
        URL.revokeObjectURL(url);
      }
    },
    prepare: (text, signal) => void begin(text, signal),
    pause: () => audio.pause(),
    resume: () => {
      // What is over is not said again: the next piece is on its way.
      if (!audio.ended) audio.play().catch(() => {});
    },
  };
}

function play(audio: HTMLAudioElement, url: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const end = (settle: () => void) => (): void => {
      over.abort();
      settle();
    };
    const options = { signal: over.signal };
    const fail = end(() => reject(new Error(audio.error?.message ?? '')));
    audio.addEventListener('ended', end(resolve), options);
    audio.addEventListener('error', fail, options);
    audio.addEventListener('playing', begun, options);
    signal.addEventListener(
      'abort',
      end(() => {
        audio.pause();
        reject(new DOMException('stopped', 'AbortError'));
      }),
      options,
    );
    audio.src = url;
    // Paused between two pieces: the next one waits to be resumed. Paused as it is about to begin is no failure either.
    if (aloud.get()?.phase === 'paused') return;
    audio.play().catch((refused: unknown) => {
      if (!isAbort(refused)) end(() => reject(new Error('')))();
    });
  });
}

function browserSpeaker({ voice }: Extract<Voice, { by: 'browser' }>): Speaker {
  return {
    say: (text, signal) => sayHere(text, { lang: spoken(), voice: browserVoice(voice) }, signal, begun),
    prepare: () => {},
    pause: () => speechSynthesis.pause(),
    resume: () => speechSynthesis.resume(),
  };
}

/** The wanted voice, else one of this computer: others send the text to somebody else. */
function browserVoice(uri: string | undefined): SpeechSynthesisVoice | undefined {
  const voices = speechSynthesis.getVoices();
  const wanted = voices.find(({ voiceURI }) => voiceURI === uri);
  const local = voices.filter(({ localService }) => localService);
  return wanted ?? local.find(({ lang }) => lang.startsWith(spoken())) ?? local[0];
}
